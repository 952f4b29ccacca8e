//! What has been kept long enough.
//!
//! Each change takes at most `limit` rows, so that a sweep over years of jobs holds up nobody.

use sqlx::SqliteConnection;

use super::error::StoreError;
use super::open::Store;
use super::sqlite;
use crate::model::id::{AccountId, BlobKey, JobId};

/// Kinds of data that a plan keeps for different times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataClass {
    /// Recordings.
    Audio,
    /// Results.
    Transcript,
    /// Whole jobs.
    Metadata,
}

impl DataClass {
    /// The name in rows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Audio => "audio",
            Self::Transcript => "transcript",
            Self::Metadata => "metadata",
        }
    }
}

/// Bytes that no row names any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expired {
    /// The job that they belonged to; absent for an upload that no job used.
    pub job_id: Option<String>,
    /// Where they lie until somebody removes them.
    pub blob_key: BlobKey,
}

/// Something that was erased, after a look that it is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasureRecord {
    /// Whose it was.
    pub account_id: AccountId,
    /// The job that it belonged to.
    pub job_id: Option<String>,
    /// What it was.
    pub class: DataClass,
    /// `retention` or `zero_retention`.
    pub reason: &'static str,
    /// When it was given up and seen to be gone, milliseconds since 1970.
    pub erased_ms: i64,
}

impl Store {
    /// Every account that has data.
    pub async fn accounts_with_data(&self) -> Result<Vec<AccountId>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::select_accounts_with_data(&mut db).await
    }

    /// Gives up recordings from before `before_ms` that no unfinished job needs.
    pub async fn expire_audio(
        &self,
        account: &AccountId,
        before_ms: i64,
        limit: u32,
    ) -> Result<Vec<Expired>, StoreError> {
        let account = account.clone();
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::expire_audio(db, &account, before_ms, limit).await })
            })
            .await
    }

    /// Gives up results of jobs that ended before `before_ms` and owe no delivery.
    pub async fn expire_transcripts(
        &self,
        account: &AccountId,
        before_ms: i64,
        limit: u32,
    ) -> Result<Vec<Expired>, StoreError> {
        let account = account.clone();
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::expire_transcripts(db, &account, before_ms, limit).await })
            })
            .await
    }

    /// Jobs that ended before `before_ms` and owe no delivery.
    pub async fn jobs_ended_before(
        &self,
        account: &AccountId,
        before_ms: i64,
        limit: u32,
    ) -> Result<Vec<JobId>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::select_jobs_ended_before(&mut db, account, before_ms, limit).await
    }

    /// Jobs of plans that keep nothing, which have ended and owe no delivery.
    pub async fn jobs_to_forget(&self, limit: u32) -> Result<Vec<(AccountId, JobId)>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::select_jobs_to_forget(&mut db, limit).await
    }

    /// Removes finished deliveries and records of erasures from before `before_ms`.
    pub async fn expire_logs(&self, account: &AccountId, before_ms: i64) -> Result<u64, StoreError> {
        let account = account.clone();
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::expire_logs(db, &account, before_ms).await })
            })
            .await
    }

    /// Empties the database's log of changes, in which overwritten rows still stand.
    pub async fn truncate_log(&self) -> Result<(), StoreError> {
        let mut db = self.reader().await?;
        sqlite::truncate_log(&mut db).await
    }

    /// What was erased of an account, by class, in order of time.
    pub async fn erasures_of(&self, account: &AccountId) -> Result<Vec<String>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::select_erasures(&mut db, account).await
    }

    /// Writes down what is gone.
    pub async fn record_erasures(&self, records: Vec<ErasureRecord>) -> Result<(), StoreError> {
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move {
                    for record in &records {
                        sqlite::insert_erasure(db, record).await?;
                    }
                    Ok(())
                })
            })
            .await
    }
}
