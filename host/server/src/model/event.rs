//! What is told to the outside about a job, and to whom.

use super::job::Kind;

/// Something that happened to a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// The job has been accepted.
    TranscriptionCreated,
    /// The result is there.
    TranscriptionSuccess,
    /// The job failed.
    TranscriptionError,
    /// A live job has been accepted.
    LiveStartSession,
    /// Its socket was opened for the first time.
    LiveStartRecording,
    /// No more audio comes.
    LiveEndRecording,
    /// The live job is final.
    LiveEndSession,
}

impl Event {
    /// Every event.
    pub const ALL: [Self; 7] = [
        Self::TranscriptionCreated,
        Self::TranscriptionSuccess,
        Self::TranscriptionError,
        Self::LiveStartSession,
        Self::LiveStartRecording,
        Self::LiveEndRecording,
        Self::LiveEndSession,
    ];

    /// What the acceptance of a job is called.
    pub fn of_creation(kind: Kind) -> Self {
        match kind {
            Kind::PreRecorded => Self::TranscriptionCreated,
            Kind::Live => Self::LiveStartSession,
        }
    }

    /// What the end of a job is called. A live session ends in one way.
    pub fn of_ending(kind: Kind, is_success: bool) -> Self {
        match (kind, is_success) {
            (Kind::PreRecorded, true) => Self::TranscriptionSuccess,
            (Kind::PreRecorded, false) => Self::TranscriptionError,
            (Kind::Live, _) => Self::LiveEndSession,
        }
    }

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::TranscriptionCreated => "transcription.created",
            Self::TranscriptionSuccess => "transcription.success",
            Self::TranscriptionError => "transcription.error",
            Self::LiveStartSession => "live.start_session",
            Self::LiveStartRecording => "live.start_recording",
            Self::LiveEndRecording => "live.end_recording",
            Self::LiveEndSession => "live.end_session",
        }
    }

    /// Reads the name on the wire.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }
}

/// Who hears of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The address that the job itself named.
    Callback,
    /// An address that hears of all jobs of an account.
    Webhook,
}

impl Target {
    /// Every kind of target.
    pub const ALL: [Self; 2] = [Self::Callback, Self::Webhook];

    /// The name in rows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Callback => "callback",
            Self::Webhook => "webhook",
        }
    }
}

/// Where a message stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryStatus {
    /// It will be tried, or is being tried at the moment.
    Pending,
    /// The receiver has taken it.
    Delivered,
    /// It is not tried any more.
    GivenUp,
}

impl DeliveryStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Pending, Self::Delivered, Self::GivenUp];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::GivenUp => "given_up",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_read_back_by_its_name() {
        for event in Event::ALL {
            assert_eq!(Event::parse(event.name()), Some(event));
        }
        assert_eq!(Event::parse("transcription"), None);
    }
}
