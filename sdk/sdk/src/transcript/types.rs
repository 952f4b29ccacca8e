//! What the host passes in and takes back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One word with its place in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Word {
    /// As written, with its leading space where the language writes spaces.
    #[serde(rename = "word")]
    pub text: String,
    /// Seconds.
    pub start: f64,
    /// Seconds, after `start`.
    pub end: f64,
    /// 0.0 to 1.0.
    pub confidence: f64,
}

/// A stretch of speech of one channel, and of one speaker where that is known.
///
/// As JSON it has the shape of the API's results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Utterance {
    /// Unique in the transcript. A new utterance has 0: the host numbers it.
    #[serde(skip)]
    pub id: u32,
    /// Seconds.
    pub start: f64,
    /// Seconds.
    pub end: f64,
    /// 0.0 to 1.0.
    pub confidence: f64,
    /// Audio track, from 0.
    pub channel: u16,
    /// Numbered from 0 by first appearance; only after a diarization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<u32>,
    /// Language code.
    pub language: Option<String>,
    /// JSON object that other add-ons may read.
    #[serde(skip)]
    pub extra: Option<String>,
    pub(crate) words: Vec<Word>,
    pub(crate) text: String,
}

/// All that was said.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Transcript {
    /// Sorted by start, then channel.
    pub utterances: Vec<Utterance>,
    /// Language codes, most spoken first.
    #[serde(default)]
    pub languages: Vec<String>,
    /// JSON object that other add-ons may read.
    #[serde(skip)]
    pub extra: Option<String>,
}

impl Transcript {
    /// The texts of all utterances, joined by one space.
    pub fn full_text(&self) -> String {
        let texts: Vec<&str> = self.utterances.iter().map(Utterance::text).collect();
        texts.join(" ")
    }
}
