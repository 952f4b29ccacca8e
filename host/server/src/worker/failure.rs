//! Why a run ended without a result: one type for all stages.

use std::time::Duration;

use crate::addons::EnrichError;
use crate::blob::BlobError;
use crate::engine::EngineError;
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
    /// A failure whose own message is fit for the client.
    pub fn told(code: Code, error: &(dyn std::error::Error + 'static)) -> Self {
        Self { code, message: error.to_string(), cause: chain(error), retry_after: None }
    }

    /// A failure of ours: the client learns only that.
    pub fn ours(code: Code, error: &(dyn std::error::Error + 'static)) -> Self {
        Self { message: message_of_ours(code).to_owned(), ..Self::told(code, error) }
    }

    /// A failure without an error value.
    pub fn plain(code: Code, cause: impl Into<String>) -> Self {
        let message = message_of_ours(code).to_owned();
        Self { code, message, cause: cause.into(), retry_after: None }
    }
}

fn message_of_ours(code: Code) -> &'static str {
    match code {
        Code::StorageFull => "the service has no storage space left",
        Code::DatabaseLocked => "the database of the service is busy",
        Code::ModelUnavailable => "the speech model of the service cannot be used",
        Code::InferenceFailed => "the speech model failed on this audio",
        Code::StoppedUnexpectedly => "processing stopped unexpectedly",
        Code::AudioGone => "the audio of this job is no longer stored; upload it again",
        _ => "the service failed to process this job",
    }
}

/// The error and its sources, joined by colons.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// A checkpoint inside the transcribe step failed: as the worker's own log told the stage.
fn segment_log(cause: &std::io::Error, error: &(dyn std::error::Error + 'static)) -> Stop {
    if cause.kind() == std::io::ErrorKind::Interrupted {
        return Stop::Cancelled;
    }
    match cause.get_ref().and_then(|inner| inner.downcast_ref::<Failure>()) {
        Some(failure) => failure.clone().into(),
        None => disk(cause, error),
    }
}

/// A disk of ours failed, perhaps because it is full.
fn disk(cause: &std::io::Error, error: &(dyn std::error::Error + 'static)) -> Stop {
    Failure::ours(crate::blob::code_of(cause), error).into()
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Failure::ours(error.code(), &error).into()
    }
}

impl From<BlobError> for Stop {
    fn from(error: BlobError) -> Self {
        Failure::ours(error.code(), &error).into()
    }
}

impl From<FetchError> for Stop {
    fn from(error: FetchError) -> Self {
        use FetchError as E;
        let code = match &error {
            E::Cancelled => return Self::Cancelled,
            E::Url(_) | E::Blocked | E::RedirectTarget(_) => Code::AudioUrlRefused,
            E::NoSuchHost | E::Status(404 | 410) => Code::AudioUrlNotFound,
            E::RedirectWithoutTarget | E::TooManyRedirects(_) | E::Status(_) => Code::AudioUrlUnreadable,
            E::Encoded | E::Certificate => Code::AudioUrlUnreadable,
            E::Busy { .. } | E::Connection => Code::AudioHostDown,
            E::Timeout => Code::AudioHostSlow,
            E::TooLarge(_) => Code::AudioTooLarge,
            E::Store(cause) => return disk(cause, &error),
            E::Client => return Failure::ours(Code::Internal, &error).into(),
        };
        let retry_after = error.retry_after();
        Failure { retry_after, ..Failure::told(code, &error) }.into()
    }
}

impl From<DecodeError> for Stop {
    fn from(error: DecodeError) -> Self {
        use DecodeError as E;
        let code = match &error {
            E::Cancelled => return Self::Cancelled,
            E::Empty | E::NotMedia(_) | E::UnknownFormat => Code::NotAudio,
            E::NoAudio | E::NoData | E::BadHeader(_) | E::Damaged(_) => Code::AudioUndecodable,
            E::UnsupportedCodec { .. } => Code::AudioUndecodable,
            E::TooLong { .. } | E::TooManyChannels { .. } => Code::AudioTooLarge,
            E::Store(cause) | E::Read(cause) => return disk(cause, &error),
        };
        Failure::told(code, &error).into()
    }
}

impl From<SegmentError> for Stop {
    fn from(error: SegmentError) -> Self {
        match &error {
            SegmentError::Cancelled => Self::Cancelled,
            SegmentError::Read(cause) => disk(cause, &error),
        }
    }
}

impl From<TranscribeError> for Stop {
    fn from(error: TranscribeError) -> Self {
        use TranscribeError as E;
        let code = match &error {
            E::Cancelled | E::Engine(EngineError::Cancelled) => return Self::Cancelled,
            E::Rules { .. } => return Failure::told(Code::ModelRules, &error).into(),
            E::Log(cause) => return segment_log(cause, &error),
            E::Read(cause) => return disk(cause, &error),
            E::Engine(EngineError::Stopped) => Code::Internal,
            E::Engine(EngineError::Inference { .. }) => Code::InferenceFailed,
            E::Engine(_) => Code::ModelUnavailable,
        };
        Failure::ours(code, &error).into()
    }
}

impl From<EnrichError> for Stop {
    fn from(error: EnrichError) -> Self {
        match &error {
            EnrichError::Cancelled => Self::Cancelled,
            EnrichError::Redaction { .. } => Failure::told(Code::RedactionFailed, &error).into(),
        }
    }
}
