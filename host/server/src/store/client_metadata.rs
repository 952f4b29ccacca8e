//! What clients attach to a job after its creation.

use serde_json::{Map, Value};
use sqlx::SqliteConnection;

use super::error::StoreError;
use super::open::Store;
use super::sqlite;
use crate::model::id::{AccountId, JobId};

/// What became of the wish to attach something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attached {
    /// It is there.
    Kept,
    /// The account has no such job.
    Missing,
    /// With it the job would have more than is allowed; nothing was changed.
    TooLarge,
}

impl Store {
    /// Adds members to what the client attached to a job so far; those of the same name are
    /// replaced. All of it, as JSON, may have `limit_bytes`.
    pub async fn attach_metadata(
        &self,
        account: &AccountId,
        id: JobId,
        members: Map<String, Value>,
        limit_bytes: usize,
    ) -> Result<Attached, StoreError> {
        let account = account.clone();
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::attach_metadata(db, &account, id, members, limit_bytes).await })
            })
            .await
    }
}
