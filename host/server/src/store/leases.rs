//! Jobs as a worker sees them: claimed, kept, finished or given back.
//!
//! Every change names its lease and does nothing when that lease is gone, so a worker that
//! was thought dead cannot overwrite the work of its successor.

use std::sync::Arc;

use serde_json::{Map, Value};
use sqlx::SqliteConnection;

use super::deliveries::Delivery;
use super::error::StoreError;
use super::files::FileFacts;
use super::jobs::Job;
use super::open::Store;
use super::sqlite;
use crate::model::id::{AccountId, BlobKey, JobId};

/// A worker's time-limited claim on a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The job.
    pub job_id: JobId,
    /// The process that works on it.
    pub owner: String,
    /// Number of the claim, from 1; no two claims of a job share it.
    pub attempt: i64,
}

/// A job in a worker's hands.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The right to change it.
    pub lease: Lease,
    /// The job.
    pub job: Job,
    /// Processes that ended with this job as a possible cause, since it last got further.
    pub crashes: i64,
    /// Failures before this claim that were ours.
    pub faults: i64,
    /// When the first claim was, milliseconds since 1970.
    pub first_claim_ms: i64,
    /// What earlier claims reached.
    pub checkpoints: Vec<Checkpoint>,
}

/// How many jobs of an account may be in work; absent: any number.
pub type ConcurrencyLimit = Arc<dyn Fn(&AccountId) -> Option<u32> + Send + Sync>;

/// Any number of jobs, whoever asks.
#[cfg(test)]
pub(crate) fn no_limit() -> ConcurrencyLimit {
    Arc::new(|_| None)
}

/// A finished step whose value lies in a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Name of the step.
    pub step: String,
    /// Identity of everything that made the value.
    pub digest: String,
    /// Where the value lies.
    pub blob_key: BlobKey,
}

/// How a job ends.
#[derive(Debug, Clone)]
pub struct Ending {
    /// Done or failed.
    pub outcome: Outcome,
    /// Milliseconds since 1970.
    pub completed_ms: i64,
    /// Debug data for the client.
    pub post_session_metadata: Map<String, Value>,
    /// Messages to send, written in the same transaction; those to webhooks are added there.
    pub deliveries: Vec<Delivery>,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// With a result.
    Done {
        /// Where it lies.
        result_key: BlobKey,
        /// What the account is billed for it, seconds.
        billed_s: f64,
    },
    /// Without one.
    Error {
        /// 400 to 599.
        error_code: u16,
    },
}

impl Store {
    /// Gives out the oldest due job of the account whose turn it is, for `lease_ms`
    /// milliseconds; `None` when nothing is due. The attempt is counted in the same commit,
    /// before any work.
    pub async fn claim(
        &self,
        owner: &str,
        now_ms: i64,
        lease_ms: i64,
        limit_of: &ConcurrencyLimit,
    ) -> Result<Option<Claimed>, StoreError> {
        let (owner, limit_of) = (owner.to_owned(), limit_of.clone());
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::claim(db, owner, now_ms, lease_ms, &limit_of).await })
            })
            .await
    }

    /// Notes that its worker computes with the job from now on: were the process to end, this
    /// job could be the cause. False when the lease is gone.
    pub async fn enter_slot(&self, lease: &Lease) -> Result<bool, StoreError> {
        let lease = lease.clone();
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::enter_slot(db, &lease).await })
            })
            .await
    }

    /// Ends all claims of a process that is known to be dead, on jobs and on messages; says
    /// how many jobs there were.
    pub async fn end_leases(&self, owner: &str, now_ms: i64) -> Result<u64, StoreError> {
        let owner = owner.to_owned();
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::end_leases(db, &owner, now_ms).await })
            })
            .await
    }

    /// Prolongs the lease and shows `progress` to the client; false when the lease is gone.
    pub async fn heartbeat(
        &self,
        lease: &Lease,
        until_ms: i64,
        progress: Map<String, Value>,
    ) -> Result<bool, StoreError> {
        let lease = lease.clone();
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::prolong(db, &lease, until_ms, &progress).await })
            })
            .await
    }

    /// Replaces the checkpoint of a step; false when the lease is gone.
    pub async fn save_checkpoint(&self, lease: &Lease, checkpoint: Checkpoint) -> Result<bool, StoreError> {
        let lease = lease.clone();
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::save_checkpoint(db, &lease, &checkpoint).await })
            })
            .await
    }

    /// Notes what is known of the job's file; false when the lease is gone. Absent facts
    /// leave the known ones as they are.
    pub async fn save_file_facts(&self, lease: &Lease, facts: FileFacts) -> Result<bool, StoreError> {
        let lease = lease.clone();
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::update_file(db, &lease, &facts).await })
            })
            .await
    }

    /// The final change: state, deliveries, usage, and no checkpoints any more, in one
    /// transaction. False when the lease is gone.
    pub async fn finish(&self, lease: &Lease, ending: Ending) -> Result<bool, StoreError> {
        let lease = lease.clone();
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::finish(db, &lease, &ending).await })
            })
            .await
            .inspect(|_| self.outbox_changed.notify_one())
    }

    /// Gives the job back: another worker may take it from `due_ms` on. It stays
    /// `processing`, with its checkpoints. `is_fault` counts a failure of ours.
    pub async fn release(&self, lease: &Lease, due_ms: i64, is_fault: bool) -> Result<bool, StoreError> {
        let lease = lease.clone();
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::release(db, &lease, due_ms, is_fault).await })
            })
            .await
    }
}
