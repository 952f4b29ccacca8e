//! Requests that a client marks, so that sending one again does not make a second job.

use sqlx::SqliteConnection;

use super::admission::Refusal;
use super::error::StoreError;
use super::open::Store;
use super::sqlite;
use crate::model::id::{AccountId, JobId};

/// For how long a mark is remembered.
pub const REPEAT_WINDOW_MS: i64 = 24 * 3_600_000;

/// A mark with what it was put on. Only digests are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestMark {
    /// Of the client's key, hex.
    pub key_digest: String,
    /// Of the request, hex: two requests are the same when these are equal.
    pub body_digest: String,
}

impl Store {
    /// The job of a request that the account has made within the window before `now_ms`; a
    /// refusal when its mark was put on another request.
    pub async fn job_of(
        &self,
        account: &AccountId,
        mark: &RequestMark,
        now_ms: i64,
    ) -> Result<Option<Result<JobId, Refusal>>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::select_mark(&mut db, account, mark, now_ms).await
    }

    /// Forgets at most `limit` marks that have outlived the window; says how many.
    pub async fn forget_marks(&self, now_ms: i64, limit: u32) -> Result<u64, StoreError> {
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::delete_marks(db, now_ms, limit).await })
            })
            .await
    }
}
