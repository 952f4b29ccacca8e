//! The queue: claims, leases and the last word about a job.

use serde_json::{Map, Value};
use sqlx::{SqliteConnection, query, query_as, query_scalar};

use super::checkpoints::{delete_checkpoints, select_checkpoints};
use super::deliveries::insert_delivery;
use super::jobs::select_job;
use super::usage::add_usage;
use super::{Answer, to_json};
use crate::model::id::JobId;
use crate::model::job::Status;
use crate::store::error::StoreError;
use crate::store::leases::{Claim, Claimed, Ending, Lease, Outcome};
use crate::store::rows::{ClaimRow, status_text};

// A lease that is still written in the row when the job is claimed again has ended
// without a word. The oldest due job goes first; when it has ended a process before, it
// is taken only by a worker that is alone with it ($4).
const CLAIM: &str = "
    UPDATE jobs
    SET status = 'processing',
        attempts = attempts + 1,
        crashes = crashes + CASE WHEN lease_owner IS NULL THEN 0 ELSE 1 END,
        lease_owner = $1,
        due_ms = $2 + $3
    WHERE id = (SELECT id FROM jobs WHERE completed_ms IS NULL AND due_ms <= $2
                ORDER BY created_ms, id LIMIT 1)
      AND ($4 OR (crashes = 0 AND lease_owner IS NULL))
    RETURNING id, attempts, crashes, faults";

const IS_ANY_DUE: &str = "
    SELECT EXISTS (SELECT 1 FROM jobs WHERE completed_ms IS NULL AND due_ms <= $1)";

pub(in crate::store) async fn claim(
    db: &mut SqliteConnection,
    owner: String,
    alone: bool,
    now_ms: i64,
    lease_ms: i64,
) -> Answer<Claim> {
    let row: Option<ClaimRow> =
        query_as(CLAIM).bind(&owner).bind(now_ms).bind(lease_ms).bind(alone).fetch_optional(&mut *db).await?;
    let Some(row) = row else {
        let is_any_due: bool = query_scalar(IS_ANY_DUE).bind(now_ms).fetch_one(db).await?;
        return Ok(if is_any_due { Claim::WaitUntilAlone } else { Claim::Nothing });
    };
    let corrupt = || StoreError::Corrupt { table: "jobs", id: row.id.clone(), cause: "id".to_owned() };
    let job_id = JobId::parse(&row.id).ok_or_else(corrupt)?;
    let job = select_job(db, None, job_id).await?.ok_or_else(corrupt)?;
    let checkpoints = select_checkpoints(db, job_id).await?;
    let lease = Lease { job_id, owner, attempt: row.attempts };
    Ok(Claim::Job(Box::new(Claimed { lease, job, crashes: row.crashes, faults: row.faults, checkpoints })))
}

const END_LEASES: &str = "UPDATE jobs SET due_ms = $2 WHERE lease_owner = $1 AND completed_ms IS NULL";

pub(in crate::store) async fn end_leases(db: &mut SqliteConnection, owner: &str, now_ms: i64) -> Answer<u64> {
    Ok(query(END_LEASES).bind(owner).bind(now_ms).execute(db).await?.rows_affected())
}

const PROLONG: &str = "
    UPDATE jobs SET due_ms = $4, post_session_metadata = $5
    WHERE id = $1 AND lease_owner = $2 AND attempts = $3";

pub(in crate::store) async fn prolong(
    db: &mut SqliteConnection,
    lease: &Lease,
    until_ms: i64,
    progress: &Map<String, Value>,
) -> Answer<bool> {
    let done = query(PROLONG)
        .bind(lease.job_id.to_string())
        .bind(&lease.owner)
        .bind(lease.attempt)
        .bind(until_ms)
        .bind(to_json(progress))
        .execute(db)
        .await?;
    Ok(done.rows_affected() == 1)
}

const FINISH: &str = "
    UPDATE jobs
    SET status = $4, completed_ms = $5, error_code = $6, post_session_metadata = $7,
        result_key = $8, lease_owner = NULL, due_ms = NULL
    WHERE id = $1 AND lease_owner = $2 AND attempts = $3";

pub(in crate::store) async fn finish(
    db: &mut SqliteConnection,
    lease: &Lease,
    ending: &Ending,
) -> Answer<bool> {
    let (status, error_code, result_key) = match &ending.outcome {
        Outcome::Done { result_key, .. } => (Status::Done, None, Some(result_key.as_str())),
        Outcome::Error { error_code } => (Status::Error, Some(i64::from(*error_code)), None),
    };
    let job_id = lease.job_id.to_string();
    let done = query(FINISH)
        .bind(&job_id)
        .bind(&lease.owner)
        .bind(lease.attempt)
        .bind(status_text(status))
        .bind(ending.completed_ms)
        .bind(error_code)
        .bind(to_json(&ending.post_session_metadata))
        .bind(result_key)
        .execute(&mut *db)
        .await?;
    if done.rows_affected() == 0 {
        return Ok(false);
    }
    if let Outcome::Done { billed_s, .. } = ending.outcome {
        add_usage(db, &job_id, ending.completed_ms, billed_s).await?;
    }
    delete_checkpoints(db, &job_id).await?;
    for delivery in &ending.deliveries {
        insert_delivery(db, &job_id, ending.completed_ms, delivery).await?;
    }
    Ok(true)
}

const RELEASE: &str = "
    UPDATE jobs SET lease_owner = NULL, due_ms = $4, faults = faults + $5
    WHERE id = $1 AND lease_owner = $2 AND attempts = $3";

pub(in crate::store) async fn release(
    db: &mut SqliteConnection,
    lease: &Lease,
    due_ms: i64,
    is_fault: bool,
) -> Answer<bool> {
    let done = query(RELEASE)
        .bind(lease.job_id.to_string())
        .bind(&lease.owner)
        .bind(lease.attempt)
        .bind(due_ms)
        .bind(i64::from(is_fault))
        .execute(db)
        .await?;
    Ok(done.rows_affected() == 1)
}
