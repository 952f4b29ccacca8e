//! Finds the stretches of speech and cuts them into what the speech model hears at once.

use std::io;
use std::sync::atomic::AtomicBool;

use crate::engine::ChannelInput;
use crate::model::segments::Segments;

/// How to cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentPlan {
    /// Cut at every pause, because the language may change there; else fill segments up
    /// to what the model hears at once.
    pub per_utterance: bool,
}

/// Why no segments came out.
#[derive(Debug, thiserror::Error)]
pub enum SegmentError {
    /// The decoded audio could not be read back.
    #[error("decoded audio cannot be read")]
    Read(#[from] io::Error),
    /// The job was cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// Finds speech on every channel. `on_progress` gets 0.0 to 1.0.
pub fn segment(
    _channels: &[ChannelInput<'_>],
    _plan: SegmentPlan,
    _cancel: &AtomicBool,
    _on_progress: &(dyn Fn(f32) + Sync),
) -> Result<Segments, SegmentError> {
    Err(SegmentError::Read(io::ErrorKind::Unsupported.into()))
}
