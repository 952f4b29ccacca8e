//! Which language is spoken: asked inside the transcription of a segment.
//!
//! whisper.cpp's own detection encodes the sound a second time, which is most of the cost
//! of a segment. Here the transcription starts with any language; when the sound is
//! encoded and the first token is due, a callback asks the decoder for the language over
//! the same encoding, and when it differs, has the prompt decoded again with that one. The
//! result is meant to equal a transcription that was told the language from the start.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::sync::Arc;

use whisper_rs::whisper_rs_sys as sys;

use super::native::Context;
use crate::model::language::Language;

/// A language and its share of the probability.
pub type Odds = (Language, f32);

/// The choice; must stay where it is while inference runs.
pub struct Detection {
    context: Arc<Context>,
    candidates: Vec<(Language, i32)>,
    threads: c_int,
    language: Language,
    /// The language's code, as whisper.cpp reads it before the choice and again when it aligns
    /// words; ends with a zero.
    pub code: [u8; 8],
    /// Most probable first. Empty until the choice was made.
    pub odds: Vec<Odds>,
}

impl Detection {
    /// Asks for one of `allowed`; empty means any that the model knows.
    pub fn among(context: &Arc<Context>, allowed: &[Language], threads: c_int) -> Self {
        let is_candidate = |language: &Language| allowed.is_empty() || allowed.contains(language);
        let candidates: Vec<_> =
            context.languages.iter().filter(|(language, _)| is_candidate(language)).copied().collect();
        let (language, _) = candidates.first().copied().unwrap_or(context.languages[0]);
        let mut detection = Self {
            context: Arc::clone(context),
            candidates,
            threads,
            language,
            code: [0; 8],
            odds: Vec::new(),
        };
        detection.write_code(language);
        detection
    }

    /// Whether there is nothing to choose.
    fn is_settled(&self) -> bool {
        self.candidates.len() <= 1 || !self.context.is_multilingual
    }

    /// Chooses the language before the first token. `scores` are those of all tokens after
    /// the prompt; they become those after a prompt with the language that was chosen.
    ///
    /// # Safety
    /// The state must belong to the context, hold an encoded sound and be in nobody's use.
    pub unsafe fn choose(&mut self, state: *mut sys::whisper_state, scores: &mut [f32]) {
        if self.is_settled() {
            return;
        }
        let tokens = self.context.tokens;
        let context = Arc::clone(&self.context);
        // SAFETY: the caller's promise.
        let Some(heard) = (unsafe { decode(&context, state, &[tokens.start], self.threads) }) else {
            return;
        };
        let Some((language, id)) = self.weigh(&heard) else {
            return;
        };
        self.write_code(language);
        let prompt = [tokens.start, context.language_token(id), tokens.transcribe, tokens.no_times];
        // SAFETY: as above. This also puts the prompt back where the start token was decoded.
        if let Some(fresh) = unsafe { decode(&context, state, &prompt, self.threads) } {
            for (score, fresh) in scores.iter_mut().zip(fresh) {
                // What whisper.cpp has ruled out stays ruled out.
                if *score > f32::NEG_INFINITY {
                    *score = fresh;
                }
            }
        }
    }

    /// The language of the transcription.
    pub fn language(&self) -> Language {
        self.language
    }

    fn write_code(&mut self, language: Language) {
        let code = language.code().as_bytes();
        self.language = language;
        self.code = [0; 8];
        self.code[..code.len()].copy_from_slice(code);
    }

    /// Shares of the candidates from the scores of all tokens after the start token.
    fn weigh(&mut self, scores: &[f32]) -> Option<(Language, i32)> {
        let score = |id: i32| {
            let token = usize::try_from(self.context.language_token(id)).ok()?;
            scores.get(token).copied()
        };
        let mut scored: Vec<(f32, Language, i32)> =
            self.candidates.iter().filter_map(|(language, id)| Some((score(*id)?, *language, *id))).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (highest, language, id) = *scored.first()?;
        let total: f32 = scored.iter().map(|(score, ..)| (score - highest).exp()).sum();
        self.odds =
            scored.iter().map(|(score, language, _)| (*language, (score - highest).exp() / total)).collect();
        Some((language, id))
    }
}

/// Decodes a prompt from the start of the text; the scores that follow its last token.
///
/// # Safety
/// The state must belong to the context, hold an encoded sound and be in nobody's use.
pub unsafe fn decode(
    context: &Context,
    state: *mut sys::whisper_state,
    prompt: &[sys::whisper_token],
    threads: c_int,
) -> Option<Vec<f32>> {
    let length = c_int::try_from(prompt.len()).ok()?;
    // SAFETY: the caller's promise. whisper.cpp fills one row of scores a token and leaves
    // all rows but the last as they were.
    unsafe {
        let code =
            sys::whisper_decode_with_state(context.as_ptr(), state, prompt.as_ptr(), length, 0, threads);
        if code != 0 {
            return None;
        }
        let rows = sys::whisper_get_logits_from_state(state);
        let last = rows.add((prompt.len() - 1) * context.tokens.count);
        // Copied, because the next decoding writes over them.
        Some(std::slice::from_raw_parts(last, context.tokens.count).to_vec())
    }
}
