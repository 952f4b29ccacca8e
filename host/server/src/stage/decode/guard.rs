//! Turns a panic of a third-party reader or decoder into an error.

use std::panic::{AssertUnwindSafe, catch_unwind};

use symphonia::core::errors::{Error, Result};

/// Runs `work`; what it panics with is dropped, since it may quote the input. After a panic the
/// object that `work` used must not be used again.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Error::Unsupported("panic")))
}

/// Whether `error` stands for a panic or another state from which the object cannot go on.
pub(super) fn is_final(error: &Error) -> bool {
    !matches!(error, Error::DecodeError(_) | Error::IoError(_) | Error::ResetRequired)
}
