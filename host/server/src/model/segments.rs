//! Where speech is in a file, and how it is cut for the speech model. Internal: clients
//! never see segments.

use serde::{Deserialize, Serialize};

/// Samples a second of all decoded audio, which is what the models hear.
pub const SAMPLE_RATE_HZ: u32 = 16_000;

/// A range of samples of one channel, at [`SAMPLE_RATE_HZ`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// First sample.
    pub start_frame: u64,
    /// One past the last sample.
    pub end_frame: u64,
}

impl Span {
    /// Length in samples.
    pub fn frames(self) -> u64 {
        self.end_frame - self.start_frame
    }
}

/// What one call of the speech model hears: one or more spans of a channel, joined.
/// The silence between them is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// Audio track of the file, from 0.
    pub channel: u16,
    /// In order of time, not overlapping, never empty.
    pub spans: Vec<Span>,
}

/// A stretch that the voice activity detector calls speech, without padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Speech {
    /// Audio track of the file, from 0.
    pub channel: u16,
    /// Where.
    pub span: Span,
}

/// All speech of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Segments {
    /// Sorted by start, then channel.
    pub segments: Vec<Segment>,
    /// Sorted by channel, then start.
    pub speech: Vec<Speech>,
}
