//! Whether an account may have one more job.

use sqlx::SqliteConnection;

use super::error::StoreError;
use super::jobs::NewJob;
use super::open::Store;
use super::sqlite;
use crate::model::plan::{Policy, WhenFull};

/// What a new job is measured against; an absent limit is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quota {
    /// Jobs of all accounts that may wait.
    pub all_waiting: u64,
    /// Jobs of the account that may wait.
    pub waiting: Option<u64>,
    /// Jobs of the account that may wait or be in work.
    pub unfinished: Option<u64>,
    /// Seconds that the account may be billed in all; nothing more is taken once they are
    /// reached.
    pub billed_s: Option<f64>,
}

impl Quota {
    /// The part of a policy that concerns new jobs.
    pub fn of(policy: &Policy, all_waiting: u64) -> Self {
        let at_once = policy.concurrent_prerecorded.map(u64::from);
        Self {
            all_waiting,
            waiting: policy.queued_jobs,
            unfinished: at_once.filter(|_| policy.when_full == WhenFull::Reject),
            billed_s: policy.credits.map(|credits| credits.total / credits.price_per_hour * 3600.0),
        }
    }
}

/// Why a job was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Too many jobs wait, of all accounts together.
    QueueFull,
    /// Too many jobs of the account wait.
    AccountQueueFull,
    /// The account has as many jobs as it may have, and its plan lets none wait.
    AccountBusy,
    /// The account has no credits left.
    NoCredits,
}

impl Store {
    /// Accepts a job, durably, unless a limit is reached. Both in one transaction, so that
    /// requests that come together do not pass a limit together.
    pub async fn admit_job(&self, job: NewJob, quota: Quota) -> Result<Result<(), Refusal>, StoreError> {
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move {
                    match sqlite::refusal(db, &job.account_id, &quota).await? {
                        Some(refusal) => Ok(Err(refusal)),
                        None => sqlite::insert_job(db, &job).await.map(Ok),
                    }
                })
            })
            .await
    }
}
