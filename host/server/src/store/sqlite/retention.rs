//! Data that is older than its plan keeps it.

use std::time::Duration;

use sqlx::{AssertSqlSafe, SqliteConnection, query, query_as, query_scalar};
use uuid::Uuid;

#[cfg(test)]
use super::explain;
use super::{Answer, blob_to_remove, of_account, readable};
use crate::model::id::{AccountId, JobId};
use crate::store::error::StoreError;
use crate::store::open::BUSY_TIMEOUT;
use crate::store::retention::{ErasureRecord, Expired};
use crate::store::rows::ErasureRow;

/// How long the readers of this process, which are quick, are waited for.
const TRUNCATE_PATIENCE: Duration = Duration::from_millis(100);

const SELECT_ACCOUNTS: &str = "SELECT account_id FROM accounts";

pub(in crate::store) async fn select_accounts(db: &mut SqliteConnection) -> Answer<Vec<AccountId>> {
    let accounts: Vec<String> = query_scalar(SELECT_ACCOUNTS).fetch_all(db).await?;
    Ok(accounts.into_iter().map(AccountId).collect())
}

const SELECT_OLD_AUDIO: &str = "
    SELECT f.id, f.blob_key, (SELECT MAX(j.id) FROM jobs j WHERE j.file_id = f.id)
    FROM files f
    WHERE f.account_id = $1 AND f.created_ms < $2 AND f.blob_key IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.file_id = f.id AND j.completed_ms IS NULL)
    LIMIT $3";

const FORGET_AUDIO: &str = "UPDATE files SET blob_key = NULL WHERE id = $1";

pub(in crate::store) async fn expire_audio(
    db: &mut SqliteConnection,
    account: &AccountId,
    before_ms: i64,
    limit: u32,
) -> Answer<Vec<Expired>> {
    let rows: Vec<(String, String, Option<String>)> =
        query_as(SELECT_OLD_AUDIO).bind(&account.0).bind(before_ms).bind(limit).fetch_all(&mut *db).await?;
    let mut expired = Vec::new();
    for (id, key, job_id) in rows {
        query(FORGET_AUDIO).bind(&id).execute(&mut *db).await?;
        expired.extend(blob_to_remove(&key).map(|blob_key| Expired { job_id, blob_key }));
    }
    Ok(expired)
}

// A webhook hears of an id only.
const SELECT_OLD_RESULTS: &str = "
    SELECT id, result_key FROM jobs j
    WHERE account_id = $1 AND completed_ms < $2 AND result_key IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM deliveries d
                      WHERE d.job_id = j.id AND d.next_try_ms IS NOT NULL AND d.target = 'callback')
    LIMIT $3";

const FORGET_RESULT: &str = "UPDATE jobs SET result_key = NULL WHERE id = $1";

pub(in crate::store) async fn expire_results(
    db: &mut SqliteConnection,
    account: &AccountId,
    before_ms: i64,
    limit: u32,
) -> Answer<Vec<Expired>> {
    let rows: Vec<(String, String)> =
        query_as(SELECT_OLD_RESULTS).bind(&account.0).bind(before_ms).bind(limit).fetch_all(&mut *db).await?;
    let mut expired = Vec::new();
    for (id, key) in rows {
        query(FORGET_RESULT).bind(&id).execute(&mut *db).await?;
        expired.extend(blob_to_remove(&key).map(|blob_key| Expired { job_id: Some(id), blob_key }));
    }
    Ok(expired)
}

const SELECT_OLD_JOBS: &str = "
    SELECT id FROM jobs j
    WHERE account_id = $1 AND completed_ms < $2
      AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.job_id = j.id AND d.next_try_ms IS NOT NULL)
    LIMIT $3";

pub(in crate::store) async fn select_jobs_ended_before(
    db: &mut SqliteConnection,
    account: &AccountId,
    before_ms: i64,
    limit: u32,
) -> Answer<Vec<JobId>> {
    let ids: Vec<String> =
        query_scalar(SELECT_OLD_JOBS).bind(&account.0).bind(before_ms).bind(limit).fetch_all(db).await?;
    Ok(ids.into_iter().filter_map(|id| readable(job_id(id))).collect())
}

const SELECT_TO_FORGET: &str = "
    SELECT account_id, id FROM jobs j
    WHERE zero_retention AND completed_ms IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.job_id = j.id AND d.next_try_ms IS NOT NULL)
    LIMIT $1";

// A job that has its file has not been emptied.
const SELECT_TO_EMPTY: &str = "
    SELECT account_id, id FROM jobs j
    WHERE zero_retention AND completed_ms IS NOT NULL AND file_id IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM deliveries d
                      WHERE d.job_id = j.id AND d.next_try_ms IS NOT NULL AND d.target = 'callback')
    LIMIT $1";

pub(in crate::store) async fn select_jobs_to_empty(
    db: &mut SqliteConnection,
    limit: u32,
) -> Answer<Vec<(AccountId, JobId)>> {
    select_jobs(db, SELECT_TO_EMPTY, limit).await
}

pub(in crate::store) async fn select_jobs_to_forget(
    db: &mut SqliteConnection,
    limit: u32,
) -> Answer<Vec<(AccountId, JobId)>> {
    select_jobs(db, SELECT_TO_FORGET, limit).await
}

async fn select_jobs(
    db: &mut SqliteConnection,
    statement: &'static str,
    limit: u32,
) -> Answer<Vec<(AccountId, JobId)>> {
    let rows: Vec<(String, String)> = query_as(statement).bind(limit).fetch_all(db).await?;
    let pairs = rows.into_iter().map(|(account, id)| job_id(id).map(|id| (AccountId(account), id)));
    Ok(pairs.filter_map(readable).collect())
}

// What is known of an upload that no job used, once its bytes are gone.
const DELETE_OLD_FILES: &str = "
    DELETE FROM files WHERE id IN (
        SELECT id FROM files f
        WHERE account_id = $1 AND created_ms < $2 AND blob_key IS NULL
          AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.file_id = f.id)
        LIMIT $3)";

pub(in crate::store) async fn expire_files(
    db: &mut SqliteConnection,
    account: &AccountId,
    before_ms: i64,
    limit: u32,
) -> Answer<u64> {
    let done = query(DELETE_OLD_FILES).bind(&account.0).bind(before_ms).bind(limit).execute(db).await?;
    Ok(done.rows_affected())
}

const DELETE_OLD_DELIVERIES: &str = "
    DELETE FROM deliveries WHERE id IN (
        SELECT id FROM deliveries WHERE account_id = $1 AND created_ms < $2 AND next_try_ms IS NULL
        LIMIT $3)";

const DELETE_OLD_ERASURES: &str = "
    DELETE FROM erasures WHERE id IN (
        SELECT id FROM erasures WHERE account_id = $1 AND erased_ms < $2 LIMIT $3)";

pub(in crate::store) async fn expire_logs(
    db: &mut SqliteConnection,
    account: &AccountId,
    before_ms: i64,
    limit: u32,
) -> Answer<u64> {
    let mut removed = 0;
    for statement in [DELETE_OLD_DELIVERIES, DELETE_OLD_ERASURES] {
        let deletion = query(statement).bind(&account.0).bind(before_ms).bind(limit);
        removed += deletion.execute(&mut *db).await?.rows_affected();
    }
    Ok(removed)
}

const INSERT_ERASURE: &str = "
    INSERT INTO erasures (id, account_id, job_id, class, reason, erased_ms)
    VALUES ($1, $2, $3, $4, $5, $6)";

pub(in crate::store) async fn insert_erasure(
    db: &mut SqliteConnection,
    record: &ErasureRecord,
) -> Answer<()> {
    query(INSERT_ERASURE)
        .bind(Uuid::new_v4().to_string())
        .bind(&record.account_id.0)
        .bind(&record.job_id)
        .bind(&record.class)
        .bind(&record.reason)
        .bind(record.erased_ms)
        .execute(db)
        .await?;
    Ok(())
}

pub(in crate::store) async fn list_erasures(
    db: &mut SqliteConnection,
    account: Option<&AccountId>,
    offset: u32,
    limit: u32,
) -> Answer<Vec<ErasureRecord>> {
    let sql = format!(
        "SELECT account_id, job_id, class, reason, erased_ms FROM erasures WHERE {}
         ORDER BY erased_ms DESC, id DESC LIMIT $2 OFFSET $3",
        of_account(account)
    );
    let rows: Vec<ErasureRow> = query_as(AssertSqlSafe(sql))
        .bind(account.map(|account| account.0.as_str()))
        .bind(limit)
        .bind(offset)
        .fetch_all(db)
        .await?;
    Ok(rows.into_iter().map(ErasureRecord::from).collect())
}

/// Outside of any transaction: moves all changes into the database file and empties the log;
/// false when a reader was in the way. Other writes wait meanwhile, so a long reader, such as a
/// backup, is not waited for.
pub(in crate::store) async fn truncate_log(db: &mut SqliteConnection) -> Answer<bool> {
    set_busy_timeout(db, TRUNCATE_PATIENCE).await?;
    let truncated = query_as("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(&mut *db).await;
    set_busy_timeout(db, BUSY_TIMEOUT).await?;
    let (is_busy, _, _): (bool, i64, i64) = truncated?;
    Ok(!is_busy)
}

async fn set_busy_timeout(db: &mut SqliteConnection, patience: Duration) -> Answer<()> {
    let pragma = format!("PRAGMA busy_timeout = {}", patience.as_millis());
    query(AssertSqlSafe(pragma)).execute(db).await?;
    Ok(())
}

/// What the database does to find old data, step by step.
#[cfg(test)]
pub(in crate::store) async fn explain_retention(db: &mut SqliteConnection) -> Answer<Vec<String>> {
    let mut steps = Vec::new();
    for statement in [
        SELECT_ACCOUNTS,
        SELECT_OLD_AUDIO,
        SELECT_OLD_RESULTS,
        SELECT_OLD_JOBS,
        SELECT_TO_EMPTY,
        SELECT_TO_FORGET,
        DELETE_OLD_FILES,
        DELETE_OLD_DELIVERIES,
        DELETE_OLD_ERASURES,
    ] {
        steps.extend(explain(db, statement).await?);
    }
    Ok(steps)
}

fn job_id(text: String) -> Answer<JobId> {
    let corrupt = |id| StoreError::Corrupt { table: "jobs", id, cause: "id".to_owned() };
    JobId::parse(&text).ok_or_else(|| corrupt(text))
}
