//! Why a message was not taken, in words that an operator may see: they hold nothing of the
//! message, its address or the answer's body.

use std::error::Error;

use crate::net_guard::{BlockedAddress, UrlError};

/// A failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Failure {
    /// Another answer than 2xx.
    #[error("the receiver answered with status {0}")]
    Status(u16),
    /// 3xx: the address is the one that was registered, or none.
    #[error("the receiver answered with a redirect (status {0}), which is not followed")]
    Redirect(u16),
    /// No answer in time.
    #[error("the receiver did not answer in time")]
    Timeout,
    /// The connection could not be made, or broke.
    #[error("the connection to the receiver failed")]
    Connection,
    /// The certificate does not hold.
    #[error("the TLS certificate of the receiver is not valid")]
    Certificate,
    /// The name leads to closed addresses only.
    #[error("the receiver has no public address; allow_private_urls lets messages reach private ones")]
    Blocked,
    /// The address itself is refused.
    #[error("the url {0}")]
    Url(UrlError),
    /// Nobody knows the secret any more.
    #[error("the webhook is not registered any more")]
    Unregistered,
    /// There is nothing left to tell.
    #[error("the result is not kept any more")]
    Erased,
    /// A fault of ours.
    #[error("the message could not be built; the log says why")]
    Internal,
}

impl Failure {
    /// Whether another attempt would end in the same way.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Blocked | Self::Url(_) | Self::Unregistered | Self::Erased)
    }
}

impl From<reqwest::Error> for Failure {
    fn from(error: reqwest::Error) -> Self {
        let mut source: Option<&(dyn Error + 'static)> = Some(&error);
        while let Some(cause) = source {
            if cause.is::<BlockedAddress>() {
                return Self::Blocked;
            }
            if is_bad_certificate(cause) {
                return Self::Certificate;
            }
            source = cause.source();
        }
        if error.is_timeout() { Self::Timeout } else { Self::Connection }
    }
}

fn is_bad_certificate(cause: &(dyn Error + 'static)) -> bool {
    // rustls arrives wrapped in an io::Error, whose `source` skips the wrapped error itself.
    let wrapped = cause.downcast_ref::<std::io::Error>().and_then(|io| io.get_ref());
    let tls = wrapped.and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let tls = tls.or_else(|| cause.downcast_ref::<rustls::Error>());
    matches!(tls, Some(rustls::Error::InvalidCertificate(_)))
}
