//! Turns segments into a transcript.

use std::io;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use crate::engine::{ChannelInput, Engine, EngineError};
use crate::model::job::LanguageConfig;
use crate::model::segments::Segments;
use crate::model::transcript::Transcript;

/// What the job asks of the speech model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscribePlan {
    /// Model name of the engine's settings (`stt-1`).
    pub model: String,
    /// Expected languages.
    pub language: LanguageConfig,
    /// Refine word times.
    pub accurate_word_times: bool,
}

/// What is known of one segment after its inference; enough to resume from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SegmentResult {}

/// Where finished segments are kept, so that a crash costs one segment and not the file.
/// Indexes count `Segments::segments`.
pub trait SegmentLog {
    /// The result that was saved under this index.
    fn load(&self, index: usize) -> io::Result<Option<SegmentResult>>;
    /// Keeps a result; a second call with the same index replaces it.
    fn save(&self, index: usize, result: &SegmentResult) -> io::Result<()>;
}

/// Keeps nothing: for jobs without checkpoints.
pub struct NoLog;

impl SegmentLog for NoLog {
    fn load(&self, _index: usize) -> io::Result<Option<SegmentResult>> {
        Ok(None)
    }

    fn save(&self, _index: usize, _result: &SegmentResult) -> io::Result<()> {
        Ok(())
    }
}

/// A stretch of speech without words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Uncovered {
    /// Audio track of the file, from 0.
    pub channel: u16,
    /// Seconds of the file.
    pub start_s: f64,
    /// Seconds of the file.
    pub end_s: f64,
}

/// How much of the speech has words.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Coverage {
    /// Speech by the voice activity detector, all channels together.
    pub speech_s: f64,
    /// The part of it that lies under words.
    pub covered_s: f64,
    /// The longer stretches without words.
    pub uncovered: Vec<Uncovered>,
}

/// What was unusual about a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flag {
    /// The first decoding was doubtful; the words come from another attempt.
    DecodedAgain,
    /// Every attempt was doubtful; the best one was kept.
    Doubtful,
    /// The text was judged invented and left out.
    Dropped,
}

/// A flagged stretch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flagged {
    /// What happened.
    pub flag: Flag,
    /// Audio track of the file, from 0.
    pub channel: u16,
    /// Seconds of the file.
    pub start_s: f64,
    /// Seconds of the file.
    pub end_s: f64,
}

/// The transcript and what to know about it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Transcribed {
    /// All that was said.
    pub transcript: Transcript,
    /// How much of the speech has words.
    pub coverage: Coverage,
    /// In order of time.
    pub flagged: Vec<Flagged>,
}

/// Why no transcript came out.
#[derive(Debug, thiserror::Error)]
pub enum TranscribeError {
    /// The plan asks for what the model does not do.
    #[error("model {model:?} does not serve {what}")]
    Rules {
        /// Name of the model.
        model: String,
        /// Language or feature.
        what: String,
    },
    /// Inference failed.
    #[error(transparent)]
    Engine(EngineError),
    /// The decoded audio could not be read back.
    #[error("decoded audio cannot be read")]
    Read(#[source] io::Error),
    /// A finished segment could not be saved or loaded.
    #[error("a segment checkpoint cannot be written or read")]
    Log(#[source] io::Error),
    /// The job was cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// Transcribes all segments. Blocks; run it on a thread of its own. `on_progress` gets
/// 0.0 to 1.0. A run resumed from `log` gives the same transcript, byte for byte.
#[allow(clippy::too_many_arguments)]
pub fn transcribe(
    _channels: &[ChannelInput<'_>],
    _segments: &Segments,
    _plan: &TranscribePlan,
    _engine: &Engine,
    _log: &dyn SegmentLog,
    _cancel: &AtomicBool,
    _on_progress: &(dyn Fn(f32) + Sync),
) -> Result<Transcribed, TranscribeError> {
    Err(TranscribeError::Engine(EngineError::Stopped))
}
