//! Speech to text with whisper.cpp: loading, one segment at a time, and judging the result.

mod alignment;
mod attempt;
mod guard;
mod language;
mod log;
mod native;
mod steering;

use std::sync::atomic::AtomicBool;

pub use attempt::{LONGEST_SAMPLES, Token};
pub use language::Odds;
pub use log::silence;
pub use native::{Context, State};

use attempt::{Heard, Room, Way, attempt, no_speech_probability};
use guard::{better, has_echo, has_loop, is_doubtful, without_loops};
use steering::Repeats;

use super::EngineError;
use crate::model::language::Language;

/// Which language a segment is transcribed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LanguageChoice {
    /// This one.
    Known(Language),
    /// The most probable of these; empty means of all that the model knows.
    Among(Vec<Language>),
}

/// How many passes a segment may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// One: enough to compare languages.
    Quick,
    /// More while the text is doubtful.
    Thorough,
}

/// The text of a segment and how far it can be trusted.
#[derive(Debug, Clone, PartialEq)]
pub struct Recognised {
    /// In order.
    pub tokens: Vec<Token>,
    /// The language it was transcribed in.
    pub language: Language,
    /// Most probable first; empty when the language was known.
    pub odds: Vec<Odds>,
    /// Mean of the logarithms of the tokens' probabilities.
    pub mean_log_probability: f32,
    /// The model's probability that nobody speaks; 0.0 where the text gave no reason to ask.
    pub no_speech_probability: f32,
    /// The text ran out of room: the segment holds more, and has to be halved.
    pub is_cut: bool,
    /// Passes that were needed.
    pub attempts: u32,
    /// No pass gave a text to be believed; this is the best of them. After a quick one:
    /// further passes may give a better one.
    pub is_doubtful: bool,
}

/// Below this mean of logarithms the model is asked whether anybody speaks.
const ASK_BELOW: f32 = -0.5;

/// Transcribes a segment; decodes again in other ways while the result is doubtful.
pub fn recognise(
    state: &mut State,
    samples: &[f32],
    choice: &LanguageChoice,
    effort: Effort,
    threads: usize,
    cancel: &AtomicBool,
) -> Result<Recognised, EngineError> {
    let way = Way { room: Room::Trimmed, repeats: Repeats::End };
    let first = attempt(state, samples, choice, way, threads, cancel)?;
    let no_speech =
        if first.mean_log_probability < ASK_BELOW { no_speech_probability(state, threads) } else { 0.0 };
    let odds = first.odds.clone();
    // A text that runs out of tokens without a loop needs a shorter segment, not a better search.
    let is_cut = !first.is_finished && !has_loop(&first.tokens);
    let may_be_better = (is_doubtful(&first) || has_echo(&first.tokens)) && !is_cut;
    let is_done = !may_be_better || effort == Effort::Quick;
    let (heard, attempts) =
        if is_done { (first, 1) } else { search_on(state, samples, first, threads, cancel)? };
    Ok(Recognised {
        is_doubtful: if is_done { may_be_better } else { is_doubtful(&heard) },
        tokens: without_loops(heard.tokens),
        language: heard.language,
        odds,
        mean_log_probability: heard.mean_log_probability,
        no_speech_probability: no_speech,
        is_cut,
        attempts,
    })
}

/// Further attempts: with the silence that the model expects after the sound, then without
/// leave to repeat a phrase.
fn search_on(
    state: &mut State,
    samples: &[f32],
    first: Heard,
    threads: usize,
    cancel: &AtomicBool,
) -> Result<(Heard, u32), EngineError> {
    let choice = LanguageChoice::Known(first.language);
    let mut best = first;
    let mut attempts = 1;
    for repeats in [Repeats::End, Repeats::Forbidden] {
        let next = attempt(state, samples, &choice, Way { room: Room::Full, repeats }, threads, cancel)?;
        attempts += 1;
        best = better(best, next);
        if !is_doubtful(&best) {
            break;
        }
    }
    Ok((best, attempts))
}
