//! Why a message was not taken, in words that an operator may see: they hold nothing of the
//! message, its address or the answer's body.

use std::error::Error;
use std::io;

use super::body::Unreadable;
use crate::model::cause::chain;
use crate::model::code::{Blame, Code};
use crate::net_guard::{BlockedAddress, CertificateFault, UrlError};
use crate::store::DeliveryClaim;

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
    #[error("the TLS certificate of the receiver {0}")]
    Certificate(CertificateFault),
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
    /// Our disk is full, the database locked, or there are no files or threads.
    #[error("this service lacked the means to send; the log says which")]
    Shortage,
    /// A defect of ours.
    #[error("the message could not be built; the log says why")]
    Internal,
}

impl Failure {
    /// A fault of ours: the log says what was tried and why it failed, the record only that it was
    /// ours. `error` must tell no address.
    pub fn ours(
        claim: &DeliveryClaim,
        action: &'static str,
        code: Code,
        error: &(dyn Error + 'static),
    ) -> Self {
        let (delivery, job) = (claim.delivery.id, claim.job_id);
        tracing::error!(%delivery, %job, action, error = chain(error), "a message cannot be sent");
        if code.blame() == Blame::Outside { Self::Shortage } else { Self::Internal }
    }

    /// Why a request had no answer.
    pub fn of_request(claim: &DeliveryClaim, error: &reqwest::Error) -> Self {
        if let Some(fault) = CertificateFault::of(error) {
            return Self::Certificate(fault);
        }
        let mut source: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(cause) = source {
            if cause.is::<BlockedAddress>() {
                return Self::Blocked;
            }
            if let Some(code) = code_of_ours(cause) {
                return Self::ours(claim, "send the result", code, cause);
            }
            source = cause.source();
        }
        if error.is_timeout() { Self::Timeout } else { Self::Connection }
    }

    /// Whether another attempt would end in the same way.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Blocked | Self::Url(_) | Self::Unregistered | Self::Erased)
    }
}

/// The code of a cause that lies with us and not with the receiver: the result cannot be read, or
/// there is no file for a connection.
fn code_of_ours(cause: &(dyn Error + 'static)) -> Option<Code> {
    if let Some(unreadable) = cause.downcast_ref::<Unreadable>() {
        return Some(unreadable.code());
    }
    let code = Code::of_disk(cause.downcast_ref::<io::Error>()?);
    (code == Code::Overloaded).then_some(code)
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn a_lack_of_files_is_ours_and_a_broken_connection_is_not() {
        let code_of = |errno: Errno| code_of_ours(&io::Error::from(errno));
        assert_eq!(code_of(Errno::MFILE), Some(Code::Overloaded));
        assert_eq!(code_of(Errno::CONNRESET), None);
        let unreadable = |errno: Errno| code_of_ours(&Unreadable::from(io::Error::from(errno)));
        assert_eq!(unreadable(Errno::MFILE), Some(Code::Overloaded));
        assert_eq!(unreadable(Errno::IO), Some(Code::Internal));
    }
}
