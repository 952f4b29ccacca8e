//! Sweeps the bytes of jobs whose rows stay.

use super::error::RetainError;
use super::sweeper::{BATCH, Sweeper};
use super::tell::{record, tell};
use crate::model::id::{AccountId, BlobKey};
use crate::store::{Expired, Keepsake};

impl Sweeper {
    pub(super) async fn sweep_blobs(
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

    pub(super) async fn remove(&self, key: &BlobKey) -> Result<(), RetainError> {
        self.blobs.delete(key).await?;
        self.prove_gone(key).await
    }

    pub(super) async fn prove_gone(&self, key: &BlobKey) -> Result<(), RetainError> {
        match self.blobs.exists(key).await? {
            true => Err(RetainError::StillThere),
            false => Ok(()),
        }
    }
}
