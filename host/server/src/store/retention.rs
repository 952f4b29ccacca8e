//! What has been kept long enough.
//!
//! Each change takes at most `limit` rows, so that a sweep over years of jobs holds up nobody.

use std::sync::atomic::Ordering;

use sqlx::SqliteConnection;

use super::error::StoreError;
use super::open::Store;
use super::sqlite;
use crate::model::id::{AccountId, BlobKey, JobId};

/// Bytes that a plan keeps for a time of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keepsake {
    /// Recordings, from their arrival; never while a job needs them.
    Audio,
    /// Results, from the end of their job; never while a callback needs them.
    Transcript,
}

impl Keepsake {
    /// The name of its class in records of erasures.
    pub fn class(self) -> &'static str {
        match self {
            Self::Audio => "audio",
            Self::Transcript => "transcript",
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

/// Something that was erased, written down once it was seen to be gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasureRecord {
    /// Whose it was.
    pub account_id: AccountId,
    /// The job that it belonged to.
    pub job_id: Option<String>,
    /// `audio`, `transcript`, or `metadata` for a whole job.
    pub class: String,
    /// `retention` or `zero_retention`.
    pub reason: String,
    /// When, milliseconds since 1970.
    pub erased_ms: i64,
}

impl Store {
    /// Every account that ever had anything.
    pub async fn accounts(&self) -> Result<Vec<AccountId>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::select_accounts(&mut db).await
    }

    /// Gives up what is older than `before_ms` and that nobody needs any more.
    pub async fn expire(
        &self,
        what: Keepsake,
        account: &AccountId,
        before_ms: i64,
        limit: u32,
    ) -> Result<Vec<Expired>, StoreError> {
        let account = account.clone();
        self.erase(move |db: &mut SqliteConnection| {
            Box::pin(async move {
                match what {
                    Keepsake::Audio => sqlite::expire_audio(db, &account, before_ms, limit).await,
                    Keepsake::Transcript => sqlite::expire_results(db, &account, before_ms, limit).await,
                }
            })
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

    /// Jobs of plans that keep nothing, which have ended and owe no callback, while webhooks
    /// still wait to hear of them.
    pub async fn jobs_to_empty(&self, limit: u32) -> Result<Vec<(AccountId, JobId)>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::select_jobs_to_empty(&mut db, limit).await
    }

    /// Jobs of plans that keep nothing, which have ended and owe no delivery.
    pub async fn jobs_to_forget(&self, limit: u32) -> Result<Vec<(AccountId, JobId)>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::select_jobs_to_forget(&mut db, limit).await
    }

    /// Removes what is known of uploads from before `before_ms` that no job used and whose
    /// bytes are gone; says how many.
    pub async fn expire_files(
        &self,
        account: &AccountId,
        before_ms: i64,
        limit: u32,
    ) -> Result<u64, StoreError> {
        let account = account.clone();
        self.erase(move |db: &mut SqliteConnection| {
            Box::pin(async move { sqlite::expire_files(db, &account, before_ms, limit).await })
        })
        .await
    }

    /// Removes finished deliveries and records of erasures from before `before_ms`, at most
    /// `limit` of each; says how many.
    pub async fn expire_logs(
        &self,
        account: &AccountId,
        before_ms: i64,
        limit: u32,
    ) -> Result<u64, StoreError> {
        let account = account.clone();
        self.erase(move |db: &mut SqliteConnection| {
            Box::pin(async move { sqlite::expire_logs(db, &account, before_ms, limit).await })
        })
        .await
    }

    /// Empties the database's log of changes when something was erased since, because what was
    /// overwritten still stands there. Where a reader is in the way, the next call does it.
    pub async fn empty_log(&self) -> Result<(), StoreError> {
        if !self.erased.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        let emptied = async { sqlite::truncate_log(&mut *self.reader().await?).await }.await;
        if !matches!(emptied, Ok(true)) {
            self.erased.store(true, Ordering::Relaxed);
        }
        emptied.map(drop)
    }

    /// What was erased, the newest first: of one account, or of all.
    pub async fn list_erasures(
        &self,
        account: Option<&AccountId>,
        offset: u32,
        limit: u32,
    ) -> Result<Vec<ErasureRecord>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::list_erasures(&mut db, account, offset, limit).await
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
