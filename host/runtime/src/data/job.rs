//! What an add-on is told about a job, and what it gives back.

use serde::{Deserialize, Serialize};

use super::transcript::Transcript;

/// The job around one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobContext {
    /// Id of the job.
    pub job_id: String,
    /// `pre-recorded`, `realtime` or `post-processing`.
    pub mode: String,
    /// Id of the variant that is worked on; `None` for the original transcript.
    pub variant: Option<String>,
    /// JSON text as returned by this add-on's `validate-config`.
    pub config: String,
    /// The recording.
    pub audio: AudioInfo,
    /// Outputs of the add-ons that this one names in `after` or `requires`.
    pub previous: Vec<PreviousOutput>,
    /// JSON object, `{}` when empty.
    pub extra: String,
}

/// Facts about the recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AudioInfo {
    /// Seconds.
    pub duration: f64,
    /// Samples per second.
    pub sample_rate: u32,
    /// Tracks.
    pub channels: u16,
    /// Samples per channel.
    pub frames: u64,
}

/// What an earlier add-on of the same job produced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviousOutput {
    /// Name of that add-on.
    pub name: String,
    /// `done`, `empty` or `failed`.
    pub status: String,
    /// JSON text, when there is any.
    pub result: Option<String>,
}

/// What an add-on returned, after the host has checked it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AddonOutput {
    /// `None` leaves the transcript as it was.
    pub transcript: Option<Transcript>,
    /// JSON text.
    pub result: Option<String>,
    /// Further transcripts, each with an outcome of its own.
    pub variants: Vec<VariantOutput>,
}

/// A further transcript, for example one translation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariantOutput {
    /// Unique among the variants of one output.
    pub id: String,
    /// Language code.
    pub language: String,
    /// One variant may fail while another succeeds.
    pub outcome: Result<Transcript, AddonError>,
}

/// A failure as the client sees it in the add-on's wrapper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddonError {
    /// 400 to 599.
    pub status_code: u16,
    /// Stable and machine readable.
    pub exception: String,
    /// For a person.
    pub message: String,
}
