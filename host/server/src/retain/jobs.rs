//! Sweeps jobs: whole ones, or what was asked and said.

use std::collections::HashSet;

use super::erase::erase_job;
use super::error::RetainError;
use super::sweeper::{BATCH, Sweeper};
use super::tell::{go_on, record};
use crate::model::id::{AccountId, JobId};
use crate::store::Erasure;

/// Which jobs go, and what of them.
#[derive(Clone, Copy)]
pub(super) enum Going<'a> {
    /// All of those that leave nothing behind.
    Unkept,
    /// What was asked and said of those.
    UnkeptContent,
    /// All of those of an account that ended before a moment.
    Old(&'a AccountId, i64),
}

impl Sweeper {
    /// Those that cannot be erased keep no others from it, and are looked at once.
    pub(super) async fn sweep_jobs(&self, going: Going<'_>, now_ms: i64) -> Result<(), RetainError> {
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
}
