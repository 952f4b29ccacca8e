//! The next job for a worker.

use sqlx::{FromRow, SqliteConnection, query, query_as};

use super::Answer;
use super::checkpoints::select_checkpoints;
use super::jobs::select_job;
use crate::model::id::{AccountId, JobId};
use crate::store::error::StoreError;
use crate::store::leases::{Claim, Claimed, ConcurrencyLimit, Lease};
use crate::store::rows::ClaimRow;
use crate::store::turns::{Turn, Waiting, claim_time, next};

// One step for each account that has claimable jobs, and one look at its oldest due job: the
// number of jobs does not matter. A lease that is still written in a row that is due has
// ended without a word; only the others count as work.
const SELECT_WAITING: &str = "
    WITH RECURSIVE claimable (account_id) AS (
        SELECT MIN(account_id) FROM jobs WHERE due_ms IS NOT NULL
        UNION ALL
        SELECT (SELECT MIN(account_id) FROM jobs
                WHERE due_ms IS NOT NULL AND account_id > claimable.account_id)
        FROM claimable WHERE account_id IS NOT NULL
    )
    SELECT j.account_id, j.id AS job_id, j.due_ms,
           (j.crashes > 0 OR j.lease_owner IS NOT NULL) AS is_suspect,
           COALESCE(a.last_claim_ms, 0) AS last_claim_ms,
           (SELECT COUNT(*) FROM jobs r
            WHERE r.account_id = j.account_id AND r.lease_owner IS NOT NULL AND r.due_ms > $1) AS running
    FROM claimable c
    JOIN jobs j ON j.id = (SELECT d.id FROM jobs d WHERE d.account_id = c.account_id AND d.due_ms <= $1
                           ORDER BY d.created_ms, d.id LIMIT 1)
    LEFT JOIN accounts a ON a.account_id = c.account_id";

#[derive(FromRow)]
struct WaitingRow {
    account_id: String,
    job_id: String,
    due_ms: i64,
    is_suspect: bool,
    last_claim_ms: i64,
    running: i64,
}

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
    let rows: Vec<WaitingRow> = query_as(SELECT_WAITING).bind(now_ms).fetch_all(&mut *db).await?;
    let waiting: Vec<Waiting> = rows.iter().map(|row| as_waiting(row, now_ms, limit_of)).collect();
    let chosen = match next(&waiting, is_alone) {
        Turn::Of(chosen) => chosen,
        Turn::WaitUntilAlone => return Ok(Claim::WaitUntilAlone),
        Turn::Nobody => return Ok(Claim::Nothing),
    };
    let account = &chosen.account_id.0;
    let row = rows.iter().find(|row| row.account_id == *account).expect("chosen among the rows");
    query(NOTE_TURN).bind(account).bind(claim_time(&waiting, now_ms)).execute(&mut *db).await?;
    let row: ClaimRow =
        query_as(CLAIM).bind(&row.job_id).bind(&owner).bind(now_ms + lease_ms).fetch_one(&mut *db).await?;
    let corrupt = || StoreError::Corrupt { table: "jobs", id: row.id.clone(), cause: "id".to_owned() };
    let job_id = JobId::parse(&row.id).ok_or_else(corrupt)?;
    let job = select_job(db, None, job_id).await?.ok_or_else(corrupt)?;
    let checkpoints = select_checkpoints(db, job_id).await?;
    let lease = Lease { job_id, owner, attempt: row.attempts };
    Ok(Claim::Job(Box::new(Claimed { lease, job, crashes: row.crashes, faults: row.faults, checkpoints })))
}

fn as_waiting(row: &WaitingRow, now_ms: i64, limit_of: &ConcurrencyLimit) -> Waiting {
    let account_id = AccountId(row.account_id.clone());
    Waiting {
        limit: limit_of(&account_id),
        account_id,
        running: u32::try_from(row.running).unwrap_or(u32::MAX),
        last_claim_ms: row.last_claim_ms,
        is_suspect: row.is_suspect,
        waited_ms: now_ms - row.due_ms,
    }
}
