//! Which jobs stand in a list, and the pairs by which their metadata is found.

use sqlx::{QueryBuilder, Sqlite, SqliteConnection, query, query_scalar};

use super::{Answer, readable};
use crate::model::id::{AccountId, JobId};
use crate::model::listing::JobFilter;
use crate::model::metadata::{self, MetadataPair};
use crate::store::error::StoreError;
use crate::store::jobs::NewJob;
use crate::store::rows::{kind_text, status_text};

// Read from the index alone, so that a large offset passes over index entries and not over rows.
const SELECT_IDS: &str = "
    SELECT l.id FROM jobs l INDEXED BY jobs_list WHERE l.account_id = ";

// The same for jobs that have a pair.
const SELECT_IDS_WITH_PAIR: &str = "
    SELECT l.job_id AS id FROM job_metadata l INDEXED BY job_metadata_by_value WHERE l.account_id = ";

// SQLite makes a join of each EXISTS, and the order of many joins takes it seconds to plan; a value
// it looks up as it stands.
const ALSO_WITH_PAIR: &str = "
    AND (SELECT 1 FROM job_metadata o INDEXED BY job_metadata_by_value
         WHERE o.account_id = l.account_id AND o.created_ms = l.created_ms AND o.job_id = l.";

const WITH_PAIR_AND_STATUS: &str = "
    AND (SELECT 1 FROM jobs j INDEXED BY jobs_list
         WHERE j.account_id = l.account_id AND j.created_ms = l.created_ms AND j.id = l.job_id
           AND j.status IN (";

const IS_THERE: &str = " LIMIT 1) IS NOT NULL";

pub(in crate::store) async fn select_job_ids(
    db: &mut SqliteConnection,
    account: &AccountId,
    filter: &JobFilter,
    offset: u64,
    limit: u32,
) -> Answer<Vec<JobId>> {
    let way = way(db, account, filter).await?;
    let mut statement = statement(account, filter, &way, offset, limit);
    // The number of texts is without bound: they would push the others out of the cache.
    let ids: Vec<String> = statement.build_query_scalar().persistent(false).fetch_all(db).await?;
    let parse = |id: String| {
        JobId::parse(&id).ok_or(StoreError::Corrupt { table: "jobs", id, cause: "id".to_owned() })
    };
    Ok(ids.into_iter().map(parse).filter_map(readable).collect())
}

/// Pairs that more jobs have than this count as equally frequent.
const MOST_COUNTED: i64 = 10_000;

const COUNT_PAIR: &str = "
    SELECT COUNT(*) FROM (SELECT 1 FROM job_metadata WHERE account_id = $1 AND path = $2 AND value = $3
                          LIMIT $4) AS some";

/// Along which index a list is read, and what is looked up for each entry.
struct Way<'p> {
    along: Option<&'p MetadataPair>,
    also: Vec<&'p MetadataPair>,
}

/// Along the rarest pair; but along all jobs when even that one is frequent and a status is
/// asked for, which stands in the index of jobs only and may be rare.
async fn way<'p>(db: &mut SqliteConnection, account: &AccountId, filter: &'p JobFilter) -> Answer<Way<'p>> {
    let mut counted: Vec<(i64, &MetadataPair)> = Vec::with_capacity(filter.metadata.len());
    for pair in &filter.metadata {
        let count = query_scalar(COUNT_PAIR)
            .bind(&account.0)
            .bind(&pair.path)
            .bind(&pair.value)
            .bind(MOST_COUNTED)
            .fetch_one(&mut *db)
            .await?;
        counted.push((count, pair));
    }
    counted.sort_by_key(|(count, _)| *count);
    let is_rare = counted.first().is_some_and(|(count, _)| *count < MOST_COUNTED);
    let mut also: Vec<_> = counted.into_iter().map(|(_, pair)| pair).collect();
    let along = (!also.is_empty() && (is_rare || filter.statuses.is_empty())).then(|| also.remove(0));
    Ok(Way { along, also })
}

/// What the database does to find the ids, step by step.
#[cfg(test)]
pub(in crate::store) async fn explain_job_ids(
    db: &mut SqliteConnection,
    account: &AccountId,
    filter: &JobFilter,
) -> Answer<Vec<String>> {
    let way = way(db, account, filter).await?;
    let statement = statement(account, filter, &way, 0, 1);
    let sql = format!("EXPLAIN QUERY PLAN {}", statement.sql().as_str());
    let rows: Vec<(i64, i64, i64, String)> = sqlx::query_as(sqlx::AssertSqlSafe(sql)).fetch_all(db).await?;
    Ok(rows.into_iter().map(|row| row.3).collect())
}

fn statement(
    account: &AccountId,
    filter: &JobFilter,
    way: &Way<'_>,
    offset: u64,
    limit: u32,
) -> QueryBuilder<Sqlite> {
    let (select, id) = match way.along {
        Some(_) => (SELECT_IDS_WITH_PAIR, "job_id"),
        None => (SELECT_IDS, "id"),
    };
    let mut sql = QueryBuilder::new(select);
    sql.push_bind(account.0.clone());
    if let Some(pair) = way.along {
        sql.push(" AND l.path = ").push_bind(pair.path.clone());
        sql.push(" AND l.value = ").push_bind(pair.value.clone());
    }
    sql.push(" AND l.created_ms >= ").push_bind(filter.from_ms);
    sql.push(" AND l.created_ms < ").push_bind(filter.before_ms);
    if let Some(kind) = filter.kind {
        sql.push(" AND l.kind = ").push_bind(kind_text(kind));
    }
    for pair in &way.also {
        sql.push(ALSO_WITH_PAIR).push(id);
        sql.push(" AND o.path = ").push_bind(pair.path.clone());
        sql.push(" AND o.value = ").push_bind(pair.value.clone()).push(IS_THERE);
    }
    if !filter.statuses.is_empty() {
        let is_along_a_pair = way.along.is_some();
        let before = if is_along_a_pair { WITH_PAIR_AND_STATUS } else { " AND l.status IN (" };
        let mut statuses = sql.push(before).separated(", ");
        for status in &filter.statuses {
            statuses.push_bind(status_text(*status));
        }
        sql.push(")").push(if is_along_a_pair { IS_THERE } else { "" });
    }
    sql.push(" ORDER BY l.created_ms DESC, id DESC LIMIT ").push_bind(i64::from(limit));
    sql.push(" OFFSET ").push_bind(i64::try_from(offset).unwrap_or(i64::MAX));
    sql
}

const INSERT_PAIR: &str = "
    INSERT INTO job_metadata (job_id, account_id, kind, created_ms, path, value)
    VALUES ($1, $2, $3, $4, $5, $6)";

pub(super) async fn insert_pairs(db: &mut SqliteConnection, job: &NewJob) -> Answer<()> {
    for pair in job.spec.custom_metadata.iter().flat_map(metadata::pairs) {
        query(INSERT_PAIR)
            .bind(job.id.to_string())
            .bind(&job.account_id.0)
            .bind(kind_text(job.kind))
            .bind(job.created_ms)
            .bind(&pair.path)
            .bind(&pair.value)
            .execute(&mut *db)
            .await?;
    }
    Ok(())
}
