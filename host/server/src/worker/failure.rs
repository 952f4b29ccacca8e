//! Why a run ended without a result: one type for all stages.

use std::time::Duration;

use crate::addons::EnrichError;
use crate::blob::BlobError;
use crate::engine::EngineError;
use crate::model::cause::chain;
use crate::model::code::Code;
use crate::stage::decode::DecodeError;
use crate::stage::fetch::FetchError;
use crate::stage::segment::SegmentError;
use crate::stage::transcribe::TranscribeError;
use crate::store::StoreError;

/// A run that ended early.
#[derive(Debug)]
pub enum Stop {
    /// The lease is gone or the service stops: nobody's failure, nothing is written.
    Cancelled,
    /// Something failed.
    Failed(Failure),
}

/// What failed, in the words of the client and of the operator.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{cause}")]
pub struct Failure {
    /// Status, name and whose turn it is.
    pub code: Code,
    /// For the client: what to change. Holds no path, address or transcript text.
    pub message: String,
    /// For the operator's log: the chain of causes.
    pub cause: String,
    /// How long the other side asks to be left alone.
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// The message of an error that is about the input or the outside is fit for the client;
    /// of our own failures the client learns only that there was one.
    pub fn new(code: Code, error: &(dyn std::error::Error + 'static)) -> Self {
        let message = message_of_ours(code).map_or_else(|| error.to_string(), str::to_owned);
        Self { code, message, cause: chain(error), retry_after: None }
    }

    /// A failure without an error value; `cause` is for the operator, and for the client
    /// only where the code is about the input.
    pub fn plain(code: Code, cause: impl Into<String>) -> Self {
        let cause = cause.into();
        let message = message_of_ours(code).map_or_else(|| cause.clone(), str::to_owned);
        Self { code, message, cause, retry_after: None }
    }
}

/// What the client is told of a failure that is not about its input.
fn message_of_ours(code: Code) -> Option<&'static str> {
    match code {
        Code::StorageFull => Some("the service has no storage space left"),
        Code::DatabaseLocked => Some("the database of the service is busy"),
        Code::Overloaded => Some("the service has too much to do"),
        Code::ModelUnavailable => Some("the speech model of the service cannot be used"),
        Code::InferenceFailed => Some("the speech model failed on this audio"),
        Code::StoppedUnexpectedly => Some("processing stopped unexpectedly"),
        Code::AudioGone => Some("the audio of this job is no longer stored; upload it again"),
        Code::ShuttingDown | Code::Internal => Some("the service failed to process this job"),
        Code::AudioUrlRefused
        | Code::AudioUrlNotFound
        | Code::AudioUrlUnreadable
        | Code::AudioHostDown
        | Code::AudioHostSlow
        | Code::AudioTooLarge
        | Code::NotAudio
        | Code::AudioUndecodable
        | Code::ModelRules
        | Code::RedactionFailed => None,
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        of(Some(error.code()), &error)
    }
}

impl From<BlobError> for Stop {
    fn from(error: BlobError) -> Self {
        of(Some(error.code()), &error)
    }
}

impl From<FetchError> for Stop {
    fn from(error: FetchError) -> Self {
        match of(error.code(), &error) {
            Self::Failed(failure) => Failure { retry_after: error.retry_after(), ..failure }.into(),
            Self::Cancelled => Self::Cancelled,
        }
    }
}

impl From<DecodeError> for Stop {
    fn from(error: DecodeError) -> Self {
        of(error.code(), &error)
    }
}

impl From<SegmentError> for Stop {
    fn from(error: SegmentError) -> Self {
        let code = match &error {
            SegmentError::Cancelled => None,
            SegmentError::Read(cause) => Some(Code::of_disk(cause)),
        };
        of(code, &error)
    }
}

impl From<TranscribeError> for Stop {
    fn from(error: TranscribeError) -> Self {
        use TranscribeError as E;
        let code = match &error {
            E::Cancelled | E::Engine(EngineError::Cancelled) => None,
            E::Rules { .. } => Some(Code::ModelRules),
            E::Log(cause) => return of_segment_log(cause, &error),
            E::Read(cause) => Some(Code::of_disk(cause)),
            E::Engine(EngineError::Inference { .. }) => Some(Code::InferenceFailed),
            E::Engine(EngineError::Threads { .. } | EngineError::Stopped) => Some(Code::Internal),
            E::Engine(_) => Some(Code::ModelUnavailable),
        };
        of(code, &error)
    }
}

impl From<EnrichError> for Stop {
    fn from(error: EnrichError) -> Self {
        let code = match &error {
            EnrichError::Cancelled => None,
            EnrichError::Redaction { .. } => Some(Code::RedactionFailed),
        };
        of(code, &error)
    }
}

/// A checkpoint inside the transcribe step failed: the worker's own log said how.
fn of_segment_log(cause: &std::io::Error, error: &(dyn std::error::Error + 'static)) -> Stop {
    if cause.kind() == std::io::ErrorKind::Interrupted {
        return Stop::Cancelled;
    }
    match cause.get_ref().and_then(|inner| inner.downcast_ref::<Failure>()) {
        Some(failure) => failure.clone().into(),
        None => of(Some(Code::of_disk(cause)), error),
    }
}

fn of(code: Option<Code>, error: &(dyn std::error::Error + 'static)) -> Stop {
    let Some(code) = code else { return Stop::Cancelled };
    Failure::new(code, error).into()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn failure(error: impl Into<Stop>) -> Failure {
        match error.into() {
            Stop::Failed(failure) => failure,
            Stop::Cancelled => panic!("nothing failed"),
        }
    }

    #[test]
    fn the_client_learns_what_to_change_and_nothing_of_our_disks() {
        let bad = failure(DecodeError::Empty);
        assert_eq!((bad.code, bad.message.as_str()), (Code::NotAudio, "the file is empty"));
        let ours = failure(DecodeError::Store(std::io::Error::other("/srv/data/x: broken")));
        assert_eq!(ours.code, Code::Internal);
        assert!(!ours.message.contains("/srv"), "{}", ours.message);
        assert!(ours.cause.contains("/srv/data/x: broken"), "{}", ours.cause);
    }

    #[test]
    fn a_full_disk_is_recognised_whoever_meets_it() {
        let full = || std::io::Error::from(std::io::ErrorKind::StorageFull);
        assert_eq!(failure(DecodeError::Store(full())).code, Code::StorageFull);
        assert_eq!(failure(FetchError::Store(full())).code, Code::StorageFull);
        assert_eq!(failure(TranscribeError::Log(full())).code, Code::StorageFull);
        let told = Failure::plain(Code::DatabaseLocked, "x");
        let log = TranscribeError::Log(std::io::Error::other(told));
        assert_eq!(failure(log).code, Code::DatabaseLocked);
    }

    #[test]
    fn what_was_stopped_on_request_is_no_failure() {
        let interrupted = std::io::Error::from(std::io::ErrorKind::Interrupted);
        for stop in [
            FetchError::Cancelled.into(),
            DecodeError::Cancelled.into(),
            SegmentError::Cancelled.into(),
            TranscribeError::Engine(EngineError::Cancelled).into(),
            TranscribeError::Log(interrupted).into(),
            EnrichError::Cancelled.into(),
        ] {
            assert!(matches!(stop, Stop::Cancelled), "{stop:?}");
        }
    }

    #[test]
    fn a_busy_host_is_left_alone_as_long_as_it_asks() {
        let retry_after = Some(Duration::from_secs(9));
        let busy = failure(FetchError::Busy { status: 503, retry_after });
        assert_eq!((busy.code, busy.retry_after), (Code::AudioHostDown, retry_after));
    }
}
