//! Erases what its plan does not keep any longer, and writes down what is gone.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::erase::erase_job;
use crate::blob::{BlobError, Blobs};
use crate::model::cause::chain;
use crate::model::date;
use crate::model::id::{AccountId, BlobKey, JobId};
use crate::model::plan::Retention;
use crate::store::{Erasure, ErasureRecord, Expired, Keepsake, Store, StoreError};

/// Between two looks for data that is too old: the shortest period is "within 24 hours".
const PAUSE: Duration = Duration::from_secs(600);
/// Between two looks for jobs that must leave nothing behind.
const FORGET_PAUSE: Duration = Duration::from_secs(1);
/// Rows of one change.
const BATCH: u32 = 100;
const DAY_MS: i64 = 24 * 3600 * 1000;
/// A period of 0 days ends within a day, and leaves time to use an upload and to fetch a result.
const SHORTEST_MS: i64 = DAY_MS / 2;

/// Why a sweep ended early; the next one begins again.
#[derive(Debug, thiserror::Error)]
pub enum RetainError {
    /// The bytes.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The rows.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The job is not there, or not final, although it was found a moment ago.
    #[error("the job was deleted or changed meanwhile")]
    NotErased,
    /// A blob was removed and is still there.
    #[error("a blob is still there after it was removed")]
    StillThere,
}

impl RetainError {
    /// Whether it concerns one job or blob: the rest can be erased as well as ever.
    fn is_of_one_piece(&self) -> bool {
        match self {
            Self::Store(error) => error.is_permanent(),
            Self::Blob(_) | Self::NotErased | Self::StillThere => true,
        }
    }
}

/// How long an account's data is kept.
pub type Periods = Arc<dyn Fn(&AccountId) -> Retention + Send + Sync>;

/// Which jobs go, and what of them.
#[derive(Clone, Copy)]
enum Going<'a> {
    /// All of those that leave nothing behind.
    Unkept,
    /// What was asked and said of those.
    UnkeptContent,
    /// All of those of an account that ended before a moment.
    Old(&'a AccountId, i64),
}

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
            let swept = match swept {
                Ok(()) => self.store.empty_log().await.map_err(RetainError::from),
                failed => failed,
            };
            if let Err(error) = swept {
                tracing::warn!(error = chain(&error), "data that should be erased is still there");
            }
            tokio::time::sleep(FORGET_PAUSE).await;
        }
    }

    /// Erases jobs of plans without retention: what was asked and said once the callback was
    /// delivered, or could not be, and the rest once nobody waits to hear of the job.
    pub async fn forget(&self, now_ms: i64) -> Result<(), RetainError> {
        self.sweep_jobs(Going::Unkept, now_ms).await?;
        self.sweep_jobs(Going::UnkeptContent, now_ms).await
    }

    /// Those that cannot be erased keep no others from it, and are looked at once.
    async fn sweep_jobs(&self, going: Going<'_>, now_ms: i64) -> Result<(), RetainError> {
        let mut stuck = HashSet::new();
        loop {
            let mut jobs = self.going(going, BATCH + stuck.len() as u32).await?;
            jobs.retain(|(_, id)| !stuck.contains(id));
            if jobs.is_empty() {
                return Ok(());
            }
            for (account, id) in jobs {
                let erased = match going {
                    Going::Unkept => self.erase(&account, id, "zero_retention", now_ms).await,
                    Going::UnkeptContent => self.empty(&account, id, now_ms).await,
                    Going::Old(..) => self.erase(&account, id, "retention", now_ms).await,
                };
                if erased.is_err() {
                    stuck.insert(id);
                }
                go_on(id, erased)?;
            }
        }
    }

    async fn going(&self, going: Going<'_>, limit: u32) -> Result<Vec<(AccountId, JobId)>, RetainError> {
        Ok(match going {
            Going::Unkept => self.store.jobs_to_forget(limit).await?,
            Going::UnkeptContent => self.store.jobs_to_empty(limit).await?,
            Going::Old(account, before_ms) => {
                let ids = self.store.jobs_ended_before(account, before_ms, limit).await?;
                ids.into_iter().map(|id| (account.clone(), id)).collect()
            }
        })
    }

    /// Erases everything that is older than its plan keeps it. What cannot be erased keeps
    /// neither its account nor others from it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn sweep(&self, now_ms: i64) -> Result<(), RetainError> {
        for account in self.store.accounts().await? {
            go_on(&account.0, self.sweep_account(&account, now_ms).await)?;
        }
        Ok(())
    }

    /// 1. Whole jobs.
    /// 2. Results.
    /// 3. Recordings.
    /// 4. What is known of uploads that no job used.
    /// 5. Records of deliveries and erasures.
    async fn sweep_account(&self, account: &AccountId, now_ms: i64) -> Result<(), RetainError> {
        let periods = (self.periods)(account);
        let before = |days: Option<u32>| days.map(|days| now_ms - length_ms(days));
        let metadata_before = before(periods.metadata_days);
        if let Some(before_ms) = metadata_before {
            self.sweep_jobs(Going::Old(account, before_ms), now_ms).await?;
        }
        if let Some(before_ms) = before(periods.transcript_days) {
            self.sweep_blobs(account, Keepsake::Transcript, before_ms, now_ms).await?;
        }
        if let Some(before_ms) = before(periods.audio_days) {
            self.sweep_blobs(account, Keepsake::Audio, before_ms, now_ms).await?;
        }
        if let Some(before_ms) = metadata_before {
            while self.store.expire_files(account, before_ms, BATCH).await? > 0 {}
        }
        if let Some(before_ms) = before(periods.logs_days) {
            while self.store.expire_logs(account, before_ms, BATCH).await? > 0 {}
        }
        Ok(())
    }

    async fn sweep_blobs(
        &self,
        account: &AccountId,
        what: Keepsake,
        before_ms: i64,
        now_ms: i64,
    ) -> Result<(), RetainError> {
        loop {
            let expired = self.store.expire(what, account, before_ms, BATCH).await?;
            if expired.is_empty() {
                return Ok(());
            }
            let mut records = Vec::new();
            for Expired { job_id, blob_key } in expired {
                match self.remove(&blob_key).await {
                    Ok(()) => records.push(record(account, job_id, what.class(), "retention", now_ms)),
                    Err(error) => tell(job_id.as_deref().unwrap_or("-"), &error),
                }
            }
            tracing::info!(
                erased = records.len(),
                class = what.class(),
                "data reached the end of its period"
            );
            self.store.record_erasures(records).await?;
        }
    }

    async fn erase(
        &self,
        account: &AccountId,
        id: JobId,
        reason: &str,
        now_ms: i64,
    ) -> Result<(), RetainError> {
        let Erasure::Erased { blobs } = erase_job(&self.store, &self.blobs, account, id).await? else {
            return Err(RetainError::NotErased);
        };
        for key in &blobs {
            self.prove_gone(key).await?;
        }
        tracing::info!(job = %id, reason, "job erased");
        let record = record(account, Some(id.to_string()), "metadata", reason, now_ms);
        Ok(self.store.record_erasures(vec![record]).await?)
    }

    async fn empty(&self, account: &AccountId, id: JobId, now_ms: i64) -> Result<(), RetainError> {
        let mut removed = Ok(());
        for key in self.store.empty_job(id).await? {
            removed = removed.and(self.remove(&key).await);
        }
        removed?;
        let record = record(account, Some(id.to_string()), "transcript", "zero_retention", now_ms);
        Ok(self.store.record_erasures(vec![record]).await?)
    }

    async fn remove(&self, key: &BlobKey) -> Result<(), RetainError> {
        self.blobs.delete(key).await?;
        self.prove_gone(key).await
    }

    async fn prove_gone(&self, key: &BlobKey) -> Result<(), RetainError> {
        match self.blobs.exists(key).await? {
            true => Err(RetainError::StillThere),
            false => Ok(()),
        }
    }
}

/// What is wrong with one job, blob or account is told; the next one is not concerned.
fn go_on(whose: impl fmt::Display, erased: Result<(), RetainError>) -> Result<(), RetainError> {
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
fn tell(whose: impl fmt::Display, error: &RetainError) {
    tracing::error!(%whose, error = chain(error), "something could not be erased");
}

fn length_ms(days: u32) -> i64 {
    (i64::from(days) * DAY_MS).max(SHORTEST_MS)
}

fn record(
    account: &AccountId,
    job_id: Option<String>,
    class: &str,
    reason: &str,
    erased_ms: i64,
) -> ErasureRecord {
    let (class, reason) = (class.to_owned(), reason.to_owned());
    ErasureRecord { account_id: account.clone(), job_id, class, reason, erased_ms }
}
