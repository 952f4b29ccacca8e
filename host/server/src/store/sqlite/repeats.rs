//! The table `idempotency_keys`. A row outlives its job, so that a repetition after a
//! deletion still makes no new one.

use sqlx::{SqliteConnection, query, query_as};

use super::Answer;
use crate::model::id::{AccountId, JobId};
use crate::store::admission::Refusal;
use crate::store::error::StoreError;
use crate::store::jobs::NewJob;
use crate::store::repeats::{REPEAT_WINDOW_MS, RequestMark};

const SELECT_MARK: &str = "
    SELECT body_digest, job_id FROM idempotency_keys
    WHERE account_id = $1 AND key_digest = $2 AND created_ms > $3";

pub(in crate::store) async fn select_mark(
    db: &mut SqliteConnection,
    account: &AccountId,
    mark: &RequestMark,
    now_ms: i64,
) -> Answer<Option<Result<JobId, Refusal>>> {
    let row: Option<(String, String)> = query_as(SELECT_MARK)
        .bind(&account.0)
        .bind(&mark.key_digest)
        .bind(now_ms - REPEAT_WINDOW_MS)
        .fetch_optional(db)
        .await?;
    let Some((body_digest, job_id)) = row else { return Ok(None) };
    if body_digest != mark.body_digest {
        return Ok(Some(Err(Refusal::MarkReused)));
    }
    match JobId::parse(&job_id) {
        Some(id) => Ok(Some(Ok(id))),
        None => Err(StoreError::Corrupt {
            table: "idempotency_keys",
            id: mark.key_digest.clone(),
            cause: "job_id".to_owned(),
        }),
    }
}

// The row that is replaced is one that has outlived its window.
const INSERT_MARK: &str = "
    INSERT INTO idempotency_keys (account_id, key_digest, body_digest, job_id, created_ms)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (account_id, key_digest) DO UPDATE
    SET body_digest = excluded.body_digest, job_id = excluded.job_id, created_ms = excluded.created_ms";

pub(in crate::store) async fn insert_mark(
    db: &mut SqliteConnection,
    job: &NewJob,
    mark: &RequestMark,
) -> Answer<()> {
    query(INSERT_MARK)
        .bind(&job.account_id.0)
        .bind(&mark.key_digest)
        .bind(&mark.body_digest)
        .bind(job.id.to_string())
        .bind(job.created_ms)
        .execute(db)
        .await?;
    Ok(())
}

const DELETE_MARKS: &str = "
    DELETE FROM idempotency_keys WHERE (account_id, key_digest) IN (
        SELECT account_id, key_digest FROM idempotency_keys WHERE created_ms <= $1 LIMIT $2)";

pub(in crate::store) async fn delete_marks(
    db: &mut SqliteConnection,
    now_ms: i64,
    limit: u32,
) -> Answer<u64> {
    let done = query(DELETE_MARKS).bind(now_ms - REPEAT_WINDOW_MS).bind(limit).execute(db).await?;
    Ok(done.rows_affected())
}
