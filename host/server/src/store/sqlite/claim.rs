//! The next job for a worker.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::{SqliteConnection, query, query_as, query_scalar};
use uuid::Uuid;

use super::checkpoints::{delete_checkpoints, select_checkpoints};
use super::deliveries::insert_delivery;
use super::jobs::select_job;
use super::webhooks::tell_webhooks;
use super::{Answer, to_json};
use crate::model::cause::chain;
use crate::model::code::Code;
use crate::model::event::{Event, Target};
use crate::model::id::{AccountId, JobId};
use crate::model::job::{Callback, JobSpec};
use crate::store::deliveries::Delivery;
use crate::store::error::StoreError;
use crate::store::jobs::Job;
use crate::store::leases::{Claimed, ConcurrencyLimit, Lease};
use crate::store::rows::ClaimRow;
use crate::store::turns::{Waiting, claim_time, next};

// One step for each account that has claimable jobs, and one look at its oldest due job, all
// within one index: the number of jobs does not matter.
const SELECT_WAITING: &str = "
    WITH RECURSIVE claimable (account_id) AS (
        SELECT MIN(account_id) FROM jobs WHERE due_ms IS NOT NULL
        UNION ALL
        SELECT (SELECT MIN(account_id) FROM jobs
                WHERE due_ms IS NOT NULL AND account_id > claimable.account_id)
        FROM claimable WHERE account_id IS NOT NULL
    )
    SELECT c.account_id, COALESCE(a.last_claim_ms, 0),
           (SELECT d.id FROM jobs d WHERE d.account_id = c.account_id AND d.due_ms <= $1
            ORDER BY d.created_ms, d.id LIMIT 1)
    FROM claimable c LEFT JOIN accounts a ON a.account_id = c.account_id
    WHERE c.account_id IS NOT NULL";

const COUNT_RUNNING: &str = "
    SELECT account_id, COUNT(*) FROM jobs WHERE lease_owner IS NOT NULL GROUP BY account_id";

const CLAIM: &str = "
    UPDATE jobs
    SET status = 'processing', attempts = attempts + 1, lease_owner = $2, due_ms = $3, in_slot = FALSE,
        first_claim_ms = COALESCE(first_claim_ms, $4)
    WHERE id = $1
    RETURNING id, attempts, crashes, faults, first_claim_ms";

const NOTE_TURN: &str = "
    INSERT INTO accounts (account_id, plan, created_ms, last_claim_ms) VALUES ($1, NULL, $2, $2)
    ON CONFLICT (account_id) DO UPDATE SET last_claim_ms = excluded.last_claim_ms";

/// Jobs that cannot be read and end in one claim: other writes wait meanwhile.
const MOST_GIVEN_UP: usize = 20;

/// 1. Release leases that have lapsed. 2. Decide whose turn it is. 3. Note it. 4. Give out that job.
///
/// One that cannot be read ends here, or it would be the oldest for ever; then again from 2.
pub(in crate::store) async fn claim(
    db: &mut SqliteConnection,
    owner: String,
    now_ms: i64,
    lease_ms: i64,
    limit_of: &ConcurrencyLimit,
) -> Answer<Option<Claimed>> {
    query(FREE_LAPSED).bind(now_ms).execute(&mut *db).await?;
    for _ in 0..MOST_GIVEN_UP {
        let (waiting, job_ids) = all_waiting(db, now_ms, limit_of).await?;
        let Some(chosen) = next(&waiting) else { return Ok(None) };
        let account = &waiting[chosen].account_id.0;
        query(NOTE_TURN).bind(account).bind(claim_time(&waiting, now_ms)).execute(&mut *db).await?;
        let row: ClaimRow = query_as(CLAIM)
            .bind(&job_ids[chosen])
            .bind(&owner)
            .bind(now_ms + lease_ms)
            .bind(now_ms)
            .fetch_one(&mut *db)
            .await?;
        let job = match read(db, &row.id).await {
            Ok(job) => job,
            Err(error) if error.is_permanent() => {
                tracing::error!(job = row.id, error = chain(&error), "a job that cannot be read was ended");
                give_up(db, &row, now_ms).await?;
                continue;
            }
            Err(error) => return Err(error),
        };
        let checkpoints = select_checkpoints(db, job.id).await?;
        let lease = Lease { job_id: job.id, owner, attempt: row.attempts };
        let ClaimRow { crashes, faults, first_claim_ms, .. } = row;
        return Ok(Some(Claimed { lease, job, crashes, faults, first_claim_ms, checkpoints }));
    }
    Ok(None)
}

async fn read(db: &mut SqliteConnection, id: &str) -> Answer<Job> {
    let corrupt = || StoreError::Corrupt { table: "jobs", id: id.to_owned(), cause: "id".to_owned() };
    let job_id = JobId::parse(id).ok_or_else(corrupt)?;
    select_job(db, None, job_id).await?.ok_or_else(corrupt)
}

const GIVE_UP: &str = "
    UPDATE jobs
    SET status = 'error', completed_ms = $2, error_code = $3, spec = $4, post_session_metadata = $5,
        client_metadata = '{}', lease_owner = NULL, due_ms = NULL
    WHERE id = $1";

const SELECT_SPEC: &str = "SELECT spec FROM jobs WHERE id = $1";

/// Ends a job. What was asked gives way to what can still be read of it and is needed to tell its
/// client how it ended.
async fn give_up(db: &mut SqliteConnection, row: &ClaimRow, now_ms: i64) -> Answer<()> {
    let code = Code::Internal;
    let message = "the service can no longer read what was asked for; send the request again";
    // The step that it would have begun with.
    let error = json!({ "name": code.name(), "message": message, "step": "fetch" });
    let metadata = json!({ "error": error, "attempts": row.attempts });
    let asked: String = query_scalar(SELECT_SPEC).bind(&row.id).fetch_one(&mut *db).await?;
    let asked: Value = serde_json::from_str(&asked).unwrap_or_default();
    let custom_metadata = asked["custom_metadata"].as_object().cloned();
    query(GIVE_UP)
        .bind(&row.id)
        .bind(now_ms)
        .bind(i64::from(code.status()))
        .bind(to_json(&JobSpec { custom_metadata, ..JobSpec::erased() }))
        .bind(metadata.to_string())
        .execute(&mut *db)
        .await?;
    delete_checkpoints(db, &row.id).await?;
    if let Ok(callback) = Callback::deserialize(&asked["callback"]) {
        insert_delivery(db, &row.id, now_ms, &told(callback)).await?;
    }
    tell_webhooks(db, &row.id, now_ms, |kind| Event::of_ending(kind, false)).await
}

fn told(Callback { url, method }: Callback) -> Delivery {
    let (event, target) = (Event::TranscriptionError, Target::Callback);
    Delivery { id: Uuid::new_v4(), event, target, url, method, webhook_id: None }
}

// Nobody prolonged these in time, perhaps because the database did not answer. Whether their
// process has ended is found out elsewhere (`end_leases`).
const FREE_LAPSED: &str = "UPDATE jobs SET lease_owner = NULL WHERE lease_owner IS NOT NULL AND due_ms <= $1";

/// The accounts that have a due job, and the id of each one's oldest.
async fn all_waiting(
    db: &mut SqliteConnection,
    now_ms: i64,
    limit_of: &ConcurrencyLimit,
) -> Answer<(Vec<Waiting>, Vec<String>)> {
    let rows: Vec<(String, i64, Option<String>)> =
        query_as(SELECT_WAITING).bind(now_ms).fetch_all(&mut *db).await?;
    let running: Vec<(String, i64)> = query_as(COUNT_RUNNING).fetch_all(db).await?;
    let running: HashMap<String, i64> = running.into_iter().collect();
    let (mut waiting, mut job_ids) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
    for (account, last_claim_ms, job_id) in rows {
        let Some(job_id) = job_id else { continue };
        let running = running.get(&account).copied().unwrap_or_default();
        let account_id = AccountId(account);
        waiting.push(Waiting {
            limit: limit_of(&account_id),
            account_id,
            running: u32::try_from(running).unwrap_or(u32::MAX),
            last_claim_ms,
        });
        job_ids.push(job_id);
    }
    Ok((waiting, job_ids))
}
