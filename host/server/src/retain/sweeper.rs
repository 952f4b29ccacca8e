//! Erases what its plan does not keep any longer, and writes down what is gone.

use std::sync::Arc;
use std::time::Duration;

use super::error::RetainError;
use super::jobs::Going;
use super::tell::go_on;
use crate::blob::Blobs;
use crate::model::cause::chain;
use crate::model::date;
use crate::model::id::AccountId;
use crate::model::plan::Retention;
use crate::store::{Keepsake, Store};

/// Between two looks for data that is too old: the shortest period is "within 24 hours".
const PAUSE: Duration = Duration::from_secs(600);
/// Between two looks for jobs that must leave nothing behind.
const FORGET_PAUSE: Duration = Duration::from_secs(1);
/// Rows of one change.
pub(super) const BATCH: u32 = 100;
const DAY_MS: i64 = 24 * 3600 * 1000;
/// A period of 0 days ends within a day, and leaves time to use an upload and to fetch a result.
const SHORTEST_MS: i64 = DAY_MS / 2;

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
}

fn length_ms(days: u32) -> i64 {
    (i64::from(days) * DAY_MS).max(SHORTEST_MS)
}
