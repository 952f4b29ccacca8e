//! What was said: words, utterances, the whole transcript.
//!
//! Times are seconds from the start of the file. The first word of an utterance has no
//! leading space, later words of spaced languages have one, so that concatenating the
//! words gives `text`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One word with its place in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Word {
    /// The word as written, with its leading space where the language writes spaces.
    pub word: String,
    /// Seconds.
    pub start: f64,
    /// Seconds, after `start`.
    pub end: f64,
    /// 0.0 to 1.0.
    pub confidence: f64,
}

/// A stretch of speech of one channel, and of one speaker where that is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Utterance {
    /// Seconds.
    pub start: f64,
    /// Seconds.
    pub end: f64,
    /// 0.0 to 1.0, the mean of its words.
    pub confidence: f64,
    /// Audio track of the file, from 0.
    pub channel: u16,
    /// Who spoke, numbered from 0 by first appearance; only with diarization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<u32>,
    /// Words in order of time.
    pub words: Vec<Word>,
    /// The words concatenated.
    pub text: String,
    /// Canonical language code.
    pub language: String,
}

/// All utterances of a file, sorted by start, then channel.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Transcript {
    /// Sorted by start, then channel.
    pub utterances: Vec<Utterance>,
    /// Language codes, most spoken first.
    pub languages: Vec<String>,
}

impl Transcript {
    /// The texts of all utterances, joined by one space.
    pub fn full_text(&self) -> String {
        let texts: Vec<&str> = self.utterances.iter().map(|u| u.text.as_str()).collect();
        texts.join(" ")
    }
}
