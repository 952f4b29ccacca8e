//! Jobs as clients see them: created once, read often.

use std::collections::HashSet;

use serde_json::{Map, Value};
use sqlx::SqliteConnection;

use super::error::StoreError;
use super::files::FileRecord;
use super::open::Store;
use super::sqlite;
use crate::model::id::{AccountId, BlobKey, JobId, RequestId};
#[cfg(test)]
use crate::model::job::AudioSource;
use crate::model::job::{JobSpec, Kind, Status};

/// A job to be.
#[derive(Debug, Clone)]
pub struct NewJob {
    /// Its id.
    pub id: JobId,
    /// Who asked.
    pub account_id: AccountId,
    /// The HTTP request that brought it.
    pub request_id: RequestId,
    /// Recorded or live.
    pub kind: Kind,
    /// What is to be done.
    pub spec: JobSpec,
    /// When it was received, milliseconds since 1970.
    pub created_ms: i64,
    /// Nothing of it may be kept once its end was delivered.
    pub zero_retention: bool,
}

/// A job as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// Who asked.
    pub account_id: AccountId,
    /// The HTTP request that brought it.
    pub request_id: RequestId,
    /// Recorded or live.
    pub kind: Kind,
    /// How far it is.
    pub status: Status,
    /// What is to be done.
    pub spec: JobSpec,
    /// When it was received, milliseconds since 1970.
    pub created_ms: i64,
    /// When it reached `done` or `error`.
    pub completed_ms: Option<i64>,
    /// 400 to 599, set with `error`.
    pub error_code: Option<u16>,
    /// Debug data for the client, in the envelope's member of this name.
    pub post_session_metadata: Map<String, Value>,
    /// What the client attached after the creation, shown beside it.
    pub client_metadata: Map<String, Value>,
    /// The audio.
    pub file: Option<FileRecord>,
    /// Where the result lies, set with `done`: JSON of a `JobResult`.
    pub result_key: Option<BlobKey>,
    /// Nothing of it may be kept once its end was delivered.
    pub zero_retention: bool,
}

/// How many jobs wait and run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueCounts {
    /// Accepted, never claimed.
    pub queued: u64,
    /// Claimed at least once, not final.
    pub processing: u64,
}

impl Store {
    /// Accepts a job: durable when this returns. For a URL its file record is made too, and
    /// webhooks are told in the same transaction.
    pub async fn create_job(&self, job: NewJob) -> Result<(), StoreError> {
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::insert_job(db, &job).await })
            })
            .await?;
        self.outbox_changed.notify_one();
        Ok(())
    }

    /// The job, if it exists and belongs to the account.
    pub async fn get_job(&self, account: &AccountId, id: JobId) -> Result<Option<Job>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::select_job(&mut db, Some(account), id).await
    }

    /// The job, whoever owns it.
    pub async fn find_job(&self, id: JobId) -> Result<Option<Job>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::select_job(&mut db, None, id).await
    }

    /// Jobs that are not final.
    #[cfg(test)]
    pub async fn queue_counts(&self) -> Result<QueueCounts, StoreError> {
        let mut db = self.reader().await?;
        sqlite::count_unfinished(&mut db).await
    }

    /// Whether the job exists and is not final, whoever owns it.
    pub async fn is_unfinished(&self, id: JobId) -> Result<bool, StoreError> {
        let mut db = self.reader().await?;
        sqlite::is_unfinished(&mut db, id).await
    }

    /// Digests of the add-ons that unfinished jobs were promised.
    pub async fn promised_addons(&self) -> Result<HashSet<String>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::select_promised_addons(&mut db).await
    }

    /// Those of `keys` that no row mentions.
    pub async fn unmentioned_blobs(&self, keys: &[BlobKey]) -> Result<Vec<BlobKey>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::select_unmentioned_blobs(&mut db, keys).await
    }
}

#[cfg(test)]
impl NewJob {
    /// A recorded job of the account `one`, plain but for its audio.
    pub fn example(audio: AudioSource, created_ms: i64) -> Self {
        let spec = JobSpec { model: "stt-1".to_owned(), audio, ..JobSpec::erased() };
        Self {
            id: JobId::new(),
            account_id: AccountId("one".to_owned()),
            request_id: RequestId::new(),
            kind: Kind::PreRecorded,
            spec,
            created_ms,
            zero_retention: false,
        }
    }
}
