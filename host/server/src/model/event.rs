//! What is told to the outside about a job, and to whom.

/// Something that happened to a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The result is there.
    TranscriptionSuccess,
    /// The job failed.
    TranscriptionError,
}

impl Event {
    /// Every event.
    pub const ALL: [Self; 2] = [Self::TranscriptionSuccess, Self::TranscriptionError];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::TranscriptionSuccess => "transcription.success",
            Self::TranscriptionError => "transcription.error",
        }
    }
}

/// Who hears of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The address that the job itself named.
    Callback,
}

impl Target {
    /// Every kind of target.
    pub const ALL: [Self; 1] = [Self::Callback];

    /// The name in rows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Callback => "callback",
        }
    }
}
