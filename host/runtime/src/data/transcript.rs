//! What was said, as add-ons see it. The JSON shape is the one of `transcription` in a
//! result of the API, so that a result can be read back as a test case.

use serde::{Deserialize, Serialize};

/// One word with its place in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Word {
    /// As written, with its leading space where the language writes spaces and the word
    /// is not the first of its utterance.
    #[serde(rename = "word")]
    pub text: String,
    /// Seconds from the start of the file.
    pub start: f64,
    /// Seconds, not before `start`.
    pub end: f64,
    /// 0.0 to 1.0.
    pub confidence: f64,
}

/// A stretch of speech of one channel, and of one speaker where that is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Utterance {
    /// Unique within the transcript. 0 means: not numbered yet.
    #[serde(default, skip_serializing_if = "is_unnumbered")]
    pub id: u32,
    /// Seconds from the start of the file.
    pub start: f64,
    /// Seconds, not before `start`.
    pub end: f64,
    /// 0.0 to 1.0.
    pub confidence: f64,
    /// Audio track, from 0.
    #[serde(default)]
    pub channel: u16,
    /// Who spoke; only after diarization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<u32>,
    /// Language code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The words concatenated.
    pub text: String,
    /// In order of time.
    pub words: Vec<Word>,
    /// JSON object that survives the pipeline and appears in no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<String>,
}

/// All utterances of a file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Transcript {
    /// Sorted by start, then channel.
    pub utterances: Vec<Utterance>,
    /// Language codes, most spoken first.
    #[serde(default)]
    pub languages: Vec<String>,
    /// JSON object that survives the pipeline and appears in no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<String>,
}

impl Transcript {
    /// Gives every utterance with the id 0 the next free one.
    pub fn number_utterances(&mut self) {
        let mut highest = self.utterances.iter().map(|utterance| utterance.id).max().unwrap_or(0);
        for utterance in self.utterances.iter_mut().filter(|utterance| utterance.id == 0) {
            highest = highest.saturating_add(1);
            utterance.id = highest;
        }
    }

    /// Words of all utterances together.
    pub fn word_count(&self) -> usize {
        self.utterances.iter().map(|utterance| utterance.words.len()).sum()
    }
}

fn is_unnumbered(id: &u32) -> bool {
    *id == 0
}
