//! One pass of whisper.cpp over one segment.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use whisper_rs::whisper_rs_sys as sys;

use super::LanguageChoice;
use super::language::{Detection, Odds, decode};
use super::native::{State, Tokens};
use super::steering::{Repeats, Steering};
use crate::engine::{EngineError, SAMPLE_RATE_HZ};
use crate::model::language::Language;

/// Samples of one position of the encoder: 20 ms.
const SAMPLES_A_POSITION: usize = SAMPLE_RATE_HZ as usize / 50;
/// The encoder hears this many positions of silence after the segment (1.28 s).
const MARGIN_POSITIONS: usize = 64;

/// The whole context has 1,500 positions and is slower than the next multiple of 64.
const MOST_POSITIONS: usize = 1472;

/// How much silence the encoder hears after the segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// A margin: as fast as can be.
    Trimmed,
    /// Up to the 30 s that the model was trained on: where the end comes too soon for it.
    Full,
}
/// The longest segment: 28 s. One margin more than this fits the encoder.
pub const LONGEST_SAMPLES: usize = 28 * SAMPLE_RATE_HZ as usize;
/// Shorter sound is followed by silence up to this length, because whisper.cpp refuses
/// less than 0.1 s and aligns no less than 0.16 s.
const SHORTEST_SAMPLES: usize = SAMPLE_RATE_HZ as usize;
/// whisper.cpp stops a text after this many tokens (half its context, less the prompt).
const MOST_TOKENS: usize = 448 / 2 - 4;

/// How a pass differs from the others over the same segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// Silence after the segment.
    pub room: Room,
    /// What becomes of loops.
    pub repeats: Repeats,
}

/// A piece of text, which may be part of a character.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// As in the model's vocabulary.
    pub bytes: Vec<u8>,
    /// Where it ends, in seconds of the segment.
    pub end_s: f32,
    /// 0.0 to 1.0.
    pub probability: f32,
}

/// What one pass heard.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    /// Text only.
    pub tokens: Vec<Token>,
    /// The language it was transcribed in.
    pub language: Language,
    /// Most probable first; empty when the language was known.
    pub odds: Vec<Odds>,
    /// Mean of the logarithms of the tokens' probabilities; the end counts as a token.
    pub mean_log_probability: f32,
    /// The text came to its end by itself.
    pub is_finished: bool,
}

/// Transcribes one segment of at most [`LONGEST_SAMPLES`].
pub fn attempt(
    state: &mut State,
    samples: &[f32],
    choice: &LanguageChoice,
    way: Way,
    threads: usize,
    cancel: &AtomicBool,
) -> Result<Heard, EngineError> {
    let threads = c_int::try_from(threads).unwrap_or(1);
    let padded;
    let samples = if samples.len() < SHORTEST_SAMPLES {
        padded = [samples, &vec![0.0; SHORTEST_SAMPLES - samples.len()]].concat();
        &padded
    } else {
        &samples[..samples.len().min(LONGEST_SAMPLES)]
    };
    let allowed = match choice {
        LanguageChoice::Known(language) => std::slice::from_ref(language),
        LanguageChoice::Among(allowed) => allowed,
    };
    let detection = Detection::among(&state.context, allowed, threads);
    let Tokens { end, count, .. } = state.context.tokens;
    let mut steering = Steering { detection, repeats: way.repeats, end, count };
    let mut parameters = parameters(threads, positions(samples.len(), way.room), cancel);
    steering.install(&mut parameters);
    let length = c_int::try_from(samples.len()).unwrap_or(c_int::MAX);
    // SAFETY: the state belongs to the context; the parameters point to `steering` and
    // `cancel`, which outlive the call.
    let code = unsafe {
        let (context, state) = (state.context.as_ptr(), state.as_ptr());
        sys::whisper_full_with_state(context, state, parameters, samples.as_ptr(), length)
    };
    if cancel.load(Ordering::Relaxed) {
        return Err(EngineError::Cancelled);
    }
    if code != 0 {
        return Err(EngineError::Inference { code });
    }
    Ok(collect(state, steering.detection))
}

/// The probability that the segment that was just transcribed holds no speech, by the
/// model. whisper.cpp's own figure is read from a buffer that it did not fill.
pub fn no_speech_probability(state: &mut State, threads: usize) -> f32 {
    let tokens = state.context.tokens;
    let threads = c_int::try_from(threads).unwrap_or(1);
    // SAFETY: the state is ours and keeps the encoded sound of its last run.
    let Some(scores) = (unsafe { decode(&state.context, state.as_ptr(), &[tokens.start], threads) }) else {
        return 0.0;
    };
    let highest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total: f32 = scores.iter().map(|score| (score - highest).exp()).sum();
    let index = usize::try_from(tokens.no_speech).unwrap_or_default();
    scores.get(index).map_or(0.0, |score| (score - highest).exp() / total)
}

fn positions(samples: usize, room: Room) -> usize {
    let filled = samples.div_ceil(SAMPLES_A_POSITION);
    match room {
        Room::Trimmed => (filled + MARGIN_POSITIONS).next_multiple_of(64).min(MOST_POSITIONS),
        Room::Full => MOST_POSITIONS,
    }
}

/// Always the most probable token: whisper.cpp's other strategies draw from a random
/// sequence that goes on from run to run, so that a resumed job would get other words.
fn parameters(threads: c_int, positions: usize, cancel: &AtomicBool) -> sys::whisper_full_params {
    let strategy = sys::whisper_sampling_strategy_WHISPER_SAMPLING_GREEDY;
    // SAFETY: returns plain values.
    let mut parameters = unsafe { sys::whisper_full_default_params(strategy) };
    parameters.greedy.best_of = 1;
    parameters.n_threads = threads;
    parameters.audio_ctx = c_int::try_from(positions).unwrap_or(0);
    parameters.no_context = true;
    parameters.no_timestamps = true;
    parameters.single_segment = true;
    parameters.suppress_nst = true;
    parameters.print_progress = false;
    parameters.print_timestamps = false;
    // Doubtful results are judged and decoded again by us.
    parameters.temperature_inc = 0.0;
    parameters.entropy_thold = 0.0;
    parameters.no_speech_thold = f32::INFINITY;
    parameters.abort_callback = Some(is_cancelled);
    parameters.abort_callback_user_data = std::ptr::from_ref(cancel).cast_mut().cast();
    parameters
}

unsafe extern "C" fn is_cancelled(data: *mut c_void) -> bool {
    // SAFETY: `parameters` put a reference there that outlives the run.
    unsafe { &*data.cast::<AtomicBool>() }.load(Ordering::Relaxed)
}

fn collect(state: &State, detection: Detection) -> Heard {
    let end = state.context.tokens.end;
    let mut tokens = Vec::new();
    let mut log_probabilities = Vec::new();
    let mut is_finished = false;
    // SAFETY: the run is over; indices stay below the counts that whisper.cpp gives.
    let all = unsafe {
        let state = state.as_ptr();
        (0..sys::whisper_full_n_segments_from_state(state))
            .flat_map(|segment| {
                (0..sys::whisper_full_n_tokens_from_state(state, segment))
                    .map(move |token| sys::whisper_full_get_token_data_from_state(state, segment, token))
            })
            .collect::<Vec<_>>()
    };
    for token in &all {
        log_probabilities.push(token.plog);
        if token.id >= end {
            is_finished |= token.id == end;
            continue;
        }
        tokens.push(Token {
            bytes: state.context.token_bytes(token.id).to_vec(),
            end_s: token.t_dtw.max(0) as f32 / 100.0,
            probability: token.p.clamp(0.0, 1.0),
        });
    }
    let count = log_probabilities.len().max(1) as f32;
    Heard {
        is_finished: is_finished || all.len() < MOST_TOKENS,
        mean_log_probability: log_probabilities.iter().sum::<f32>() / count,
        language: detection.language(),
        odds: detection.odds,
        tokens,
    }
}
