//! Jobs that go for good.

use sqlx::SqliteConnection;

use super::error::StoreError;
use super::open::Store;
use super::sqlite;
use crate::model::id::{AccountId, BlobKey, JobId};

/// What became of the wish to erase a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Erasure {
    /// The account has no such job.
    Missing,
    /// The job is not final: a worker or a session may still write about it.
    Unfinished,
    /// No row speaks of it any more.
    Erased {
        /// Blobs that only this job's rows named.
        blobs: Vec<BlobKey>,
    },
}

impl Store {
    /// Removes the rows of a final job: itself, its metadata, checkpoints and deliveries, and
    /// its file when no other job uses that.
    pub async fn erase_job(&self, account: &AccountId, id: JobId) -> Result<Erasure, StoreError> {
        let account = account.clone();
        self.erase(move |db: &mut SqliteConnection| {
            Box::pin(async move { sqlite::erase_job(db, &account, id).await })
        })
        .await
    }

    /// Leaves of a final job only that it was there, and to which webhooks its end is still
    /// owed: those hear an id and nothing of what was said. Returns the blobs that it had.
    pub async fn empty_job(&self, id: JobId) -> Result<Vec<BlobKey>, StoreError> {
        self.erase(move |db: &mut SqliteConnection| Box::pin(async move { sqlite::empty_job(db, id).await }))
            .await
    }
}
