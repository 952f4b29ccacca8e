//! Whether an account may have one more job.

use sqlx::SqliteConnection;

use super::error::StoreError;
use super::jobs::NewJob;
use super::open::Store;
use super::repeats::RequestMark;
use super::sqlite;
use crate::model::id::JobId;
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
    /// The account has put the mark of the request on another one.
    MarkReused,
}

async fn admit(
    db: &mut SqliteConnection,
    job: &NewJob,
    quota: &Quota,
    mark: Option<&RequestMark>,
) -> Result<Result<JobId, Refusal>, StoreError> {
    if let Some(mark) = mark
        && let Some(known) = sqlite::select_mark(db, &job.account_id, mark, job.created_ms).await?
    {
        return Ok(known);
    }
    if let Some(refusal) = sqlite::refusal(db, &job.account_id, quota).await? {
        return Ok(Err(refusal));
    }
    sqlite::insert_job(db, job).await?;
    if let Some(mark) = mark {
        sqlite::insert_mark(db, job, mark).await?;
    }
    Ok(Ok(job.id))
}

impl Store {
    /// Accepts a job, durably, unless a limit is reached or the mark says that its request has
    /// been made before; gives the id of the job that the request made. All in one
    /// transaction, so that requests that come together do not pass a limit together, and of
    /// those with one mark only one makes a job.
    pub async fn admit_job(
        &self,
        job: NewJob,
        quota: Quota,
        mark: Option<RequestMark>,
    ) -> Result<Result<JobId, Refusal>, StoreError> {
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { admit(db, &job, &quota, mark.as_ref()).await })
            })
            .await
            .inspect(|_| self.outbox_changed.notify_one())
    }
}
