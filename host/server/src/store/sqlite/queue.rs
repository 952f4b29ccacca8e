//! What happens to a claimed job: leases, and how it ends.

use serde_json::{Map, Value};
use sqlx::{SqliteConnection, query};

use super::checkpoints::delete_checkpoints;
use super::deliveries::{end_delivery_claims, insert_delivery};
use super::usage::add_usage;
use super::webhooks::tell_webhooks;
use super::{Answer, to_json};
use crate::model::event::Event;
use crate::model::job::Status;
use crate::store::leases::{Ending, Lease, Outcome};
use crate::store::rows::status_text;

// The blame is on the jobs that the process computed with.
const END_LEASES: &str = "
    UPDATE jobs
    SET due_ms = $2, lease_owner = NULL, crashes = crashes + CASE WHEN in_slot THEN 1 ELSE 0 END
    WHERE lease_owner = $1 AND completed_ms IS NULL";

pub(in crate::store) async fn end_leases(db: &mut SqliteConnection, owner: &str, now_ms: i64) -> Answer<u64> {
    end_delivery_claims(db, owner, now_ms).await?;
    Ok(query(END_LEASES).bind(owner).bind(now_ms).execute(db).await?.rows_affected())
}

const ENTER_SLOT: &str = "
    UPDATE jobs SET in_slot = TRUE WHERE id = $1 AND lease_owner = $2 AND attempts = $3";

pub(in crate::store) async fn enter_slot(db: &mut SqliteConnection, lease: &Lease) -> Answer<bool> {
    let job_id = lease.job_id.to_string();
    let done = query(ENTER_SLOT).bind(job_id).bind(&lease.owner).bind(lease.attempt).execute(db).await?;
    Ok(done.rows_affected() == 1)
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
    let is_success = status == Status::Done;
    tell_webhooks(db, &job_id, ending.completed_ms, |kind| Event::of_ending(kind, is_success)).await?;
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
