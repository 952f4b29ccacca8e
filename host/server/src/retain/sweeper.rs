//! Erases what its plan does not keep any longer, and writes down what is gone.

use std::sync::Arc;
use std::time::Duration;

use super::erase::erase_job;
use crate::blob::{BlobError, Blobs};
use crate::model::date;
use crate::model::id::{AccountId, JobId};
use crate::model::plan::Retention;
use crate::store::{DataClass, Erasure, ErasureRecord, Expired, Store, StoreError};

/// Between two looks for data that is too old: the shortest period is "within 24 hours".
const PAUSE: Duration = Duration::from_secs(600);
/// Between two looks for jobs that must leave nothing behind.
const FORGET_PAUSE: Duration = Duration::from_secs(1);
/// Rows of one change.
const BATCH: u32 = 100;
const DAY_MS: i64 = 24 * 3600 * 1000;

/// Why a sweep ended early; the next one begins again.
#[derive(Debug, thiserror::Error)]
pub enum RetainError {
    /// The bytes.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The rows.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A blob was removed and is still there.
    #[error("a blob is still there after it was removed")]
    StillThere,
}

/// How long an account's data is kept.
pub type Periods = Arc<dyn Fn(&AccountId) -> Retention + Send + Sync>;

/// Keeps no more than it must.
pub struct Sweeper {
    /// Rows.
    pub store: Arc<Store>,
    /// Bytes.
    pub blobs: Blobs,
    /// The plans.
    pub periods: Periods,
}

impl Sweeper {
    /// Works until it is dropped.
    pub async fn run(self) {
        let mut next_sweep_ms = i64::MIN;
        loop {
            let now_ms = date::now_ms();
            let mut swept = self.forget(now_ms).await;
            if swept.is_ok() && now_ms >= next_sweep_ms {
                next_sweep_ms = now_ms + PAUSE.as_millis() as i64;
                swept = self.sweep(now_ms).await;
            }
            if let Err(error) = swept {
                tracing::warn!(%error, "data that should be erased is still there");
            }
            tokio::time::sleep(FORGET_PAUSE).await;
        }
    }

    /// Erases jobs of plans without retention whose end was delivered, or could not be.
    pub async fn forget(&self, now_ms: i64) -> Result<(), RetainError> {
        let jobs = self.store.jobs_to_forget(BATCH).await?;
        for (account, id) in &jobs {
            self.erase(account, *id, "zero_retention", now_ms).await?;
        }
        if !jobs.is_empty() {
            // Rows that were overwritten still stand in the log of the database.
            self.store.truncate_log().await?;
        }
        Ok(())
    }

    /// Erases everything that is older than its plan keeps it.
    ///
    /// 1. Whole jobs.
    /// 2. Results.
    /// 3. Recordings.
    /// 4. Records of deliveries and erasures.
    pub async fn sweep(&self, now_ms: i64) -> Result<(), RetainError> {
        for account in self.store.accounts_with_data().await? {
            let periods = (self.periods)(&account);
            let before = |days: u32| now_ms - i64::from(days) * DAY_MS;
            if let Some(days) = periods.metadata_days {
                self.sweep_jobs(&account, before(days), now_ms).await?;
            }
            if let Some(days) = periods.transcript_days {
                let take = || self.store.expire_transcripts(&account, before(days), BATCH);
                self.sweep_blobs(&account, DataClass::Transcript, now_ms, take).await?;
            }
            if let Some(days) = periods.audio_days {
                let take = || self.store.expire_audio(&account, before(days), BATCH);
                self.sweep_blobs(&account, DataClass::Audio, now_ms, take).await?;
            }
            if let Some(days) = periods.logs_days {
                self.store.expire_logs(&account, before(days)).await?;
            }
        }
        Ok(())
    }

    async fn sweep_jobs(&self, account: &AccountId, before_ms: i64, now_ms: i64) -> Result<(), RetainError> {
        loop {
            let jobs = self.store.jobs_ended_before(account, before_ms, BATCH).await?;
            for id in &jobs {
                self.erase(account, *id, "retention", now_ms).await?;
            }
            if jobs.is_empty() {
                return Ok(());
            }
        }
    }

    async fn sweep_blobs<F>(
        &self,
        account: &AccountId,
        class: DataClass,
        now_ms: i64,
        take: impl Fn() -> F,
    ) -> Result<(), RetainError>
    where
        F: Future<Output = Result<Vec<Expired>, StoreError>>,
    {
        loop {
            let expired = take().await?;
            if expired.is_empty() {
                return Ok(());
            }
            let mut records = Vec::new();
            for Expired { job_id, blob_key } in expired {
                self.blobs.delete(&blob_key).await?;
                if self.blobs.exists(&blob_key).await? {
                    return Err(RetainError::StillThere);
                }
                records.push(ErasureRecord {
                    account_id: account.clone(),
                    job_id,
                    class,
                    reason: "retention",
                    erased_ms: now_ms,
                });
            }
            tracing::info!(
                erased = records.len(),
                class = class.name(),
                "data reached the end of its period"
            );
            self.store.record_erasures(records).await?;
        }
    }

    async fn erase(
        &self,
        account: &AccountId,
        id: JobId,
        reason: &'static str,
        now_ms: i64,
    ) -> Result<(), RetainError> {
        let Erasure::Erased { blobs } = erase_job(&self.store, &self.blobs, account, id).await? else {
            return Ok(());
        };
        for key in &blobs {
            if self.blobs.exists(key).await? {
                return Err(RetainError::StillThere);
            }
        }
        let record = ErasureRecord {
            account_id: account.clone(),
            job_id: Some(id.to_string()),
            class: DataClass::Metadata,
            reason,
            erased_ms: now_ms,
        };
        tracing::info!(job = %id, reason, "job erased");
        Ok(self.store.record_erasures(vec![record]).await?)
    }
}
