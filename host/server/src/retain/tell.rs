//! What is told of an erasure: a record when it is done, a line of the log when it is not.

use std::fmt;

use super::error::RetainError;
use crate::model::cause::chain;
use crate::model::id::AccountId;
use crate::store::ErasureRecord;

/// What is wrong with one job, blob or account is told; the next one is not concerned.
pub(super) fn go_on(whose: impl fmt::Display, erased: Result<(), RetainError>) -> Result<(), RetainError> {
    match erased {
        Err(RetainError::NotErased) => Ok(()),
        Err(error) if error.is_of_one_piece() => {
            tell(whose, &error);
            Ok(())
        }
        other => other,
    }
}

/// Bytes that are still there have no row any more: the worker's sweeper tries again.
pub(super) fn tell(whose: impl fmt::Display, error: &RetainError) {
    tracing::error!(%whose, error = chain(error), "something could not be erased");
}

/// What its owner can ask for later.
pub(super) fn record(
    account: &AccountId,
    job_id: Option<String>,
    class: &str,
    reason: &str,
    erased_ms: i64,
) -> ErasureRecord {
    let (class, reason) = (class.to_owned(), reason.to_owned());
    ErasureRecord { account_id: account.clone(), job_id, class, reason, erased_ms }
}
