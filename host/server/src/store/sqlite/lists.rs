//! Which jobs stand in a list, and the pairs by which their metadata is found.

use sqlx::{QueryBuilder, Sqlite, SqliteConnection, query};

use super::Answer;
use crate::model::id::{AccountId, JobId};
use crate::model::listing::JobFilter;
use crate::model::metadata::MetadataPair;
use crate::store::error::StoreError;
use crate::store::rows::{kind_text, status_text};

// Everything but metadata is read from the index `jobs_list` alone, so that a large offset
// passes over index entries and not over rows. The plus keeps SQLite from starting with the
// metadata and sorting afterwards.
const SELECT_JOB_IDS: &str = "SELECT id FROM jobs INDEXED BY jobs_list WHERE account_id = ";
const WITH_PAIR: &str = " AND +id IN (SELECT job_id FROM job_metadata WHERE account_id = ";

pub(in crate::store) async fn select_job_ids(
    db: &mut SqliteConnection,
    account: &AccountId,
    filter: &JobFilter,
    offset: u64,
    limit: u32,
) -> Answer<Vec<JobId>> {
    let mut statement = statement(account, filter, offset, limit);
    // The number of texts is without bound: they would push the others out of the cache.
    let ids: Vec<String> = statement.build_query_scalar().persistent(false).fetch_all(db).await?;
    let parse = |id: String| {
        JobId::parse(&id).ok_or(StoreError::Corrupt { table: "jobs", id, cause: "id".to_owned() })
    };
    ids.into_iter().map(parse).collect()
}

/// What the database does to find the ids, step by step.
#[cfg(test)]
pub(in crate::store) async fn explain_job_ids(
    db: &mut SqliteConnection,
    account: &AccountId,
    filter: &JobFilter,
) -> Answer<Vec<String>> {
    let statement = statement(account, filter, 0, 1);
    let sql = format!("EXPLAIN QUERY PLAN {}", statement.sql().as_str());
    let rows: Vec<(i64, i64, i64, String)> = sqlx::query_as(sqlx::AssertSqlSafe(sql)).fetch_all(db).await?;
    Ok(rows.into_iter().map(|row| row.3).collect())
}

fn statement(account: &AccountId, filter: &JobFilter, offset: u64, limit: u32) -> QueryBuilder<Sqlite> {
    let mut sql = QueryBuilder::new(SELECT_JOB_IDS);
    sql.push_bind(account.0.clone());
    sql.push(" AND created_ms >= ").push_bind(filter.from_ms);
    sql.push(" AND created_ms < ").push_bind(filter.before_ms);
    if let Some(kind) = filter.kind {
        sql.push(" AND kind = ").push_bind(kind_text(kind));
    }
    if !filter.statuses.is_empty() {
        let mut statuses = sql.push(" AND status IN (").separated(", ");
        for status in &filter.statuses {
            statuses.push_bind(status_text(*status));
        }
        sql.push(")");
    }
    for pair in &filter.metadata {
        sql.push(WITH_PAIR).push_bind(account.0.clone());
        sql.push(" AND path = ").push_bind(pair.path.clone());
        sql.push(" AND value = ").push_bind(pair.value.clone()).push(")");
    }
    sql.push(" ORDER BY created_ms DESC, id DESC LIMIT ").push_bind(i64::from(limit));
    sql.push(" OFFSET ").push_bind(i64::try_from(offset).unwrap_or(i64::MAX));
    sql
}

const INSERT_PAIR: &str = "
    INSERT INTO job_metadata (job_id, account_id, path, value) VALUES ($1, $2, $3, $4)";

pub(super) async fn insert_pairs(
    db: &mut SqliteConnection,
    job_id: JobId,
    account: &AccountId,
    pairs: &[MetadataPair],
) -> Answer<()> {
    for pair in pairs {
        query(INSERT_PAIR)
            .bind(job_id.to_string())
            .bind(&account.0)
            .bind(&pair.path)
            .bind(&pair.value)
            .execute(&mut *db)
            .await?;
    }
    Ok(())
}
