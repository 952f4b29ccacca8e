//! Runs an add-on natively, without a host: config checked, defaults filled in, result as it
//! would travel, the host's side of the job scripted.
//!
//! [`run`] is enough for most tests; [`Scenario`] sets everything.

mod fake;
mod scenario;

use serde_json::Value;

use crate::addon::Addon;
use crate::error::Result;
use crate::transcript::{Transcript, Utterance, Word};

pub use fake::LogLine;
pub use scenario::{Outcome, Scenario};

/// Runs an add-on over utterances made by [`transcript`].
///
/// # Errors
/// What the add-on failed with; a config that it refuses is a 400 `InvalidConfig`.
pub fn run<A: Addon>(config: Value, lines: &[&str]) -> Result<Outcome> {
    Scenario::new().config(config).transcript(transcript(lines)).run::<A>()
}

/// Length of the words that [`transcript`] makes; the next one follows after as long a pause.
const WORD_S: f64 = 0.25;

/// One English utterance per line on channel 0: every word lasts 0.25 s and starts 0.5 s after
/// the one before, with confidence 0.9.
pub fn transcript(lines: &[&str]) -> Transcript {
    let mut start = 0.0;
    let mut utterances = Vec::with_capacity(lines.len());
    for (id, line) in (1..).zip(lines) {
        let mut words = Vec::new();
        for (index, text) in line.split_whitespace().enumerate() {
            let text = if index == 0 { text.to_owned() } else { format!(" {text}") };
            words.push(Word { text, start, end: start + WORD_S, confidence: 0.9 });
            start += 2.0 * WORD_S;
        }
        let mut utterance = Utterance::new(0, words);
        utterance.id = id;
        utterance.language = Some("en".to_owned());
        utterances.push(utterance);
    }
    Transcript { utterances, languages: vec!["en".to_owned()], extra: None }
}
