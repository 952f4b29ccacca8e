//! Owners of whisper.cpp's objects. All calls into it are in this folder.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

use whisper_rs::whisper_rs_sys as sys;

use super::alignment::Alignment;
use crate::engine::EngineError;
use crate::model::language::Language;
use crate::modelfile;

/// Room for the alignment of one segment, which whisper.cpp asks for at once and touches
/// as far as it needs: 448 tokens by 1,500 positions by 23 heads, three times over, fit.
/// It ends the process where this is too small.
const ALIGNMENT_BYTES: usize = 256 << 20;

/// A loaded model file, shared by any number of states.
pub struct Context {
    raw: NonNull<sys::whisper_context>,
    /// whisper.cpp points into it.
    _alignment: Alignment,
    pub tokens: Tokens,
    /// Language and whisper.cpp's number for it; English alone for an English-only model.
    pub languages: Vec<(Language, i32)>,
    pub is_multilingual: bool,
}

/// Numbers of the tokens that are not text.
#[derive(Debug, Clone, Copy)]
pub struct Tokens {
    /// Ends a text; everything below it is text.
    pub end: sys::whisper_token,
    pub start: sys::whisper_token,
    pub transcribe: sys::whisper_token,
    pub no_times: sys::whisper_token,
    pub no_speech: sys::whisper_token,
    /// Number of all tokens.
    pub count: usize,
}

// SAFETY: whisper.cpp only reads a context once it is loaded; what changes is in the states.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// Checks a model file and loads it. whisper.cpp ends the process on many faults, so it
    /// sees only what passes the check.
    pub fn load(file: &Path) -> Result<Self, EngineError> {
        let failed = |reason: &str| EngineError::Load { file: file.to_owned(), reason: reason.to_owned() };
        let model = modelfile::check(file).map_err(|error| failed(&error.to_string()))?;
        let alignment = Alignment::of(&model);
        let path = CString::new(file.as_os_str().as_encoded_bytes()).map_err(|_| failed("odd file name"))?;
        // SAFETY: plain values in; the path outlives the call.
        let raw = unsafe {
            let mut settings = sys::whisper_context_default_params();
            settings.use_gpu = false;
            settings.flash_attn = false;
            alignment.apply(&mut settings);
            settings.dtw_mem_size = ALIGNMENT_BYTES;
            sys::whisper_init_from_file_with_params_no_state(path.as_ptr(), settings)
        };
        let raw = NonNull::new(raw).ok_or_else(|| failed("whisper.cpp refused it"))?;
        // SAFETY: the context is loaded.
        let (tokens, is_multilingual) = unsafe {
            let context = raw.as_ptr();
            let tokens = Tokens {
                end: sys::whisper_token_eot(context),
                start: sys::whisper_token_sot(context),
                transcribe: sys::whisper_token_transcribe(context),
                no_times: sys::whisper_token_not(context),
                no_speech: sys::whisper_token_nosp(context),
                count: usize::try_from(sys::whisper_n_vocab(context)).unwrap_or_default(),
            };
            (tokens, sys::whisper_is_multilingual(context) != 0)
        };
        Ok(Self {
            raw,
            _alignment: alignment,
            tokens,
            languages: languages(is_multilingual),
            is_multilingual,
        })
    }

    pub fn as_ptr(&self) -> *mut sys::whisper_context {
        self.raw.as_ptr()
    }

    /// whisper.cpp's number of a language.
    pub fn language_id(&self, language: Language) -> Option<i32> {
        self.languages.iter().find(|(known, _)| *known == language).map(|(_, id)| *id)
    }

    /// The token that stands for a language in a prompt.
    pub fn language_token(&self, id: i32) -> sys::whisper_token {
        // SAFETY: the context is loaded; the call adds two numbers.
        unsafe { sys::whisper_token_lang(self.as_ptr(), id) }
    }

    /// The bytes of a token; a token may be part of a character.
    pub fn token_bytes(&self, token: sys::whisper_token) -> &[u8] {
        // SAFETY: whisper.cpp returns a string that lives as long as the context.
        unsafe { CStr::from_ptr(sys::whisper_token_to_str(self.as_ptr(), token)) }.to_bytes()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: states hold an `Arc` of the context, so none is left.
        unsafe { sys::whisper_free(self.as_ptr()) }
    }
}

fn languages(is_multilingual: bool) -> Vec<(Language, i32)> {
    let english = Language::parse("en").map(|language| vec![(language, 0)]).unwrap_or_default();
    if !is_multilingual {
        return english;
    }
    // SAFETY: returns a static string for every number up to the largest.
    let code = |id| unsafe { CStr::from_ptr(sys::whisper_lang_str(id)) }.to_str().ok();
    // SAFETY: returns a constant.
    let last = unsafe { sys::whisper_lang_max_id() };
    (0..=last).filter_map(|id| Some((Language::parse(code(id)?)?, id))).collect()
}

/// Buffers of one inference at a time, and its results.
pub struct State {
    raw: NonNull<sys::whisper_state>,
    pub context: Arc<Context>,
}

// SAFETY: a state belongs to no thread; it is used by one at a time.
unsafe impl Send for State {}

impl State {
    pub fn new(context: &Arc<Context>) -> Result<Self, EngineError> {
        // SAFETY: the context is loaded and outlives the state.
        let raw = unsafe { sys::whisper_init_state(context.as_ptr()) };
        let raw = NonNull::new(raw).ok_or(EngineError::Inference { code: -1 })?;
        Ok(Self { raw, context: Arc::clone(context) })
    }

    pub fn as_ptr(&self) -> *mut sys::whisper_state {
        self.raw.as_ptr()
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: nobody else has the pointer.
        unsafe { sys::whisper_free_state(self.as_ptr()) }
    }
}
