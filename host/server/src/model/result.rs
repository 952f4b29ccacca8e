//! The result object of a finished job and the wrapper of an add-on.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::transcript::Utterance;

/// Figures about the audio and the work; seconds throughout.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Metadata {
    /// Length of the audio.
    pub audio_duration: f64,
    /// Channels that differ from each other; at least 1.
    pub number_of_distinct_channels: u32,
    /// `audio_duration` times `number_of_distinct_channels`.
    pub billing_time: f64,
    /// Time spent on transcription.
    pub transcription_time: f64,
}

/// Why an add-on gave no result; shown to the client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AddonError {
    /// HTTP-like: 4xx blames the request, 5xx the add-on or the host.
    pub status_code: u16,
    /// Stable, machine readable.
    pub exception: String,
    /// What to change.
    pub message: String,
}

/// The five members that every add-on's answer has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Wrapper {
    /// Whether the add-on ran to its end.
    pub success: bool,
    /// Success without anything found.
    pub is_empty: bool,
    /// Seconds of the call, queueing left out.
    pub exec_time: f64,
    /// Set when `success` is false.
    pub error: Option<AddonError>,
    /// The add-on's own result; null after a failure.
    pub results: Value,
    /// Further members (`items` of sentences), beside the five.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// One subtitle file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Subtitle {
    /// `srt` or `vtt`.
    pub format: String,
    /// The whole file as text.
    pub subtitles: String,
}

/// The `transcription` member of a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Transcription {
    /// All that was said.
    pub full_transcript: String,
    /// Language codes, most spoken first.
    pub languages: Vec<String>,
    /// Sorted by start, then channel.
    pub utterances: Vec<Utterance>,
    /// One wrapper, when sentences were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentences: Option<Vec<Wrapper>>,
    /// One item per format, when subtitles were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtitles: Option<Vec<Subtitle>>,
}

/// The `result` member of a job that is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobResult {
    /// Always present.
    pub metadata: Metadata,
    /// Always present for recorded jobs.
    pub transcription: Transcription,
    /// Wrappers of the add-ons, under their names.
    #[serde(flatten)]
    pub addons: Map<String, Value>,
}
