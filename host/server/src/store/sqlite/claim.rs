//! The next job for a worker.

use std::collections::HashMap;

use sqlx::{SqliteConnection, query, query_as};

use super::Answer;
use super::checkpoints::select_checkpoints;
use super::jobs::select_job;
use crate::model::id::{AccountId, JobId};
use crate::store::error::StoreError;
use crate::store::leases::{Claim, Claimed, ConcurrencyLimit, Lease};
use crate::store::rows::ClaimRow;
use crate::store::turns::{Turn, Waiting, claim_time, next};

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

// A lease that is still written in a row that is due has ended without a word; only the
// others count as work.
const COUNT_RUNNING: &str = "
    SELECT account_id, COUNT(*) FROM jobs WHERE lease_owner IS NOT NULL AND due_ms > $1
    GROUP BY account_id";

const IS_SUSPECT: &str = "SELECT crashes > 0 OR lease_owner IS NOT NULL, due_ms FROM jobs WHERE id = $1";

// A lease that is still written in the row has ended without a word.
const CLAIM: &str = "
    UPDATE jobs
    SET status = 'processing',
        attempts = attempts + 1,
        crashes = crashes + CASE WHEN lease_owner IS NULL THEN 0 ELSE 1 END,
        lease_owner = $2,
        due_ms = $3
    WHERE id = $1
    RETURNING id, attempts, crashes, faults";

const NOTE_TURN: &str = "
    INSERT INTO accounts (account_id, plan, created_ms, last_claim_ms) VALUES ($1, NULL, $2, $2)
    ON CONFLICT (account_id) DO UPDATE SET last_claim_ms = excluded.last_claim_ms";

pub(in crate::store) async fn claim(
    db: &mut SqliteConnection,
    owner: String,
    is_alone: bool,
    now_ms: i64,
    lease_ms: i64,
    limit_of: &ConcurrencyLimit,
) -> Answer<Claim> {
    let (mut waiting, job_ids) = all_waiting(db, now_ms, limit_of).await?;
    let mut is_known = vec![false; waiting.len()];
    // Only the job that would be next is looked at: to find out whether it is a suspect.
    let chosen = loop {
        let chosen = match next(&waiting, is_alone) {
            Turn::Of(chosen) => chosen,
            Turn::WaitUntilAlone => return Ok(Claim::WaitUntilAlone),
            Turn::Nobody => return Ok(Claim::Nothing),
        };
        if is_known[chosen] {
            break chosen;
        }
        let (is_suspect, due_ms): (bool, i64) =
            query_as(IS_SUSPECT).bind(&job_ids[chosen]).fetch_one(&mut *db).await?;
        waiting[chosen].is_suspect = is_suspect;
        waiting[chosen].waited_ms = now_ms - due_ms;
        is_known[chosen] = true;
    };
    let account = &waiting[chosen].account_id.0;
    query(NOTE_TURN).bind(account).bind(claim_time(&waiting, now_ms)).execute(&mut *db).await?;
    let row: ClaimRow = query_as(CLAIM)
        .bind(&job_ids[chosen])
        .bind(&owner)
        .bind(now_ms + lease_ms)
        .fetch_one(&mut *db)
        .await?;
    let corrupt = || StoreError::Corrupt { table: "jobs", id: row.id.clone(), cause: "id".to_owned() };
    let job_id = JobId::parse(&row.id).ok_or_else(corrupt)?;
    let job = select_job(db, None, job_id).await?.ok_or_else(corrupt)?;
    let checkpoints = select_checkpoints(db, job_id).await?;
    let lease = Lease { job_id, owner, attempt: row.attempts };
    Ok(Claim::Job(Box::new(Claimed { lease, job, crashes: row.crashes, faults: row.faults, checkpoints })))
}

/// The accounts that have a due job, none of them a suspect so far, and the id of each one's
/// oldest.
async fn all_waiting(
    db: &mut SqliteConnection,
    now_ms: i64,
    limit_of: &ConcurrencyLimit,
) -> Answer<(Vec<Waiting>, Vec<String>)> {
    let rows: Vec<(String, i64, Option<String>)> =
        query_as(SELECT_WAITING).bind(now_ms).fetch_all(&mut *db).await?;
    let running: Vec<(String, i64)> = query_as(COUNT_RUNNING).bind(now_ms).fetch_all(db).await?;
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
            is_suspect: false,
            waited_ms: 0,
        });
        job_ids.push(job_id);
    }
    Ok((waiting, job_ids))
}
