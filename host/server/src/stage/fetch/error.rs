//! Why a fetch failed, for the client and for the retry logic.

use std::io;
use std::time::Duration;

use crate::model::code::Code;
use crate::net_guard::{CertificateFault, UrlError};

/// A failed fetch. The message holds no address, no URL and no credentials.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The URL itself is refused.
    #[error("audio_url {0}")]
    Url(#[from] UrlError),
    /// The name leads to closed addresses only.
    #[error(
        "audio_url must point to a public address: private, loopback and link-local ones are not fetched"
    )]
    Blocked,
    /// The resolver says that the name does not exist.
    #[error("audio_url names a host that does not exist")]
    NoSuchHost,
    /// A redirect leads nowhere we may go.
    #[error("audio_url redirects to a URL that is refused: it {0}")]
    RedirectTarget(UrlError),
    /// A redirect without a usable target.
    #[error("audio_url answers with a redirect that names no valid target")]
    RedirectWithoutTarget,
    /// More redirects than allowed.
    #[error("audio_url redirects more than {0} times")]
    TooManyRedirects(u32),
    /// The server refuses for good.
    #[error("audio_url answers with HTTP status {0}; it must be readable without further headers")]
    Status(u16),
    /// The server has trouble, or too much to do.
    #[error("audio_url answers with HTTP status {status}")]
    Busy {
        /// HTTP status.
        status: u16,
        /// What its Retry-After says.
        retry_after: Option<Duration>,
    },
    /// Larger than allowed.
    #[error("the file behind audio_url is larger than the limit of {0} bytes")]
    TooLarge(u64),
    /// The body is compressed although that was not asked for.
    #[error("audio_url serves the file compressed; it must be served without content-encoding")]
    Encoded,
    /// The certificate does not hold.
    #[error("the TLS certificate of the host of audio_url {0}")]
    Certificate(CertificateFault),
    /// No answer, or no end, in time.
    #[error("the host of audio_url did not deliver the file in time")]
    Timeout,
    /// The connection could not be made or broke.
    #[error("the connection to the host of audio_url failed")]
    Connection,
    /// The local file could not be written.
    #[error("the audio could not be stored")]
    Store(#[source] std::io::Error),
    /// The system gave no thread to fetch on.
    #[error("the audio could not be fetched")]
    Thread(#[source] io::Error),
    /// The HTTP client could not be set up.
    #[error("the audio could not be fetched")]
    Client,
    /// Stopped on request.
    #[error("the fetch was cancelled")]
    Cancelled,
}

impl FetchError {
    /// What the outside is told, and whether another attempt can help. `None`: nothing
    /// failed, the fetch was stopped on request.
    pub fn code(&self) -> Option<Code> {
        Some(match self {
            Self::Cancelled => return None,
            Self::Url(_) | Self::Blocked | Self::RedirectTarget(_) => Code::AudioUrlRefused,
            Self::NoSuchHost | Self::Status(404 | 410) => Code::AudioUrlNotFound,
            Self::RedirectWithoutTarget | Self::TooManyRedirects(_) | Self::Status(_) => {
                Code::AudioUrlUnreadable
            }
            Self::Certificate(_) => Code::AudioUrlUnreadable,
            Self::Encoded => Code::AudioUndecodable,
            Self::Busy { .. } | Self::Connection => Code::AudioHostDown,
            Self::Timeout => Code::AudioHostSlow,
            Self::TooLarge(_) => Code::AudioTooLarge,
            Self::Store(cause) | Self::Thread(cause) => Code::of_disk(cause),
            Self::Client => Code::Internal,
        })
    }

    /// How long the server asks to be left alone.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Busy { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
