//! All SQL of the store, in the dialect of SQLite.
//!
//! One function per statement or small group of statements that belong together; the caller
//! owns the transaction. What a row may become is decided here where the decision must be one
//! with the change; whose turn it is, and what a limit is, is decided above.

mod admission;
mod backlog;
mod checkpoints;
mod claim;
mod client_metadata;
mod deliveries;
mod erase;
mod files;
mod jobs;
mod keys;
mod lists;
mod queue;
mod repeats;
mod retention;
mod usage;
mod webhooks;

#[cfg(test)]
use sqlx::{AssertSqlSafe, query_as};
use sqlx::{SqliteConnection, query};

pub(super) use admission::refusal;
pub(super) use backlog::{count_live, count_owed};
pub(super) use checkpoints::save_checkpoint;
pub(super) use claim::claim;
pub(super) use client_metadata::attach_metadata;
pub(super) use deliveries::{
    claim_delivery, end_attempt, list_deliveries, replay_delivery, select_delivery, select_due_deliveries,
};
#[cfg(test)]
pub(super) use deliveries::{explain_deliveries_of, explain_due_deliveries, select_deliveries_of_job};
pub(super) use erase::{empty_job, erase_job};
pub(super) use files::{insert_file, select_file, select_unmentioned_blobs, update_file};
pub(super) use jobs::{count_unfinished, insert_job, is_unfinished, select_job, select_promised_addons};
pub(super) use keys::{insert_key, revoke_key, select_assigned_plans, select_keys, select_keys_in_force};
#[cfg(test)]
pub(super) use lists::explain_job_ids;
pub(super) use lists::select_job_ids;
pub(super) use queue::{end_leases, enter_slot, finish, prolong, release};
pub(super) use repeats::{delete_marks, insert_mark, select_mark};
#[cfg(test)]
pub(super) use retention::explain_retention;
pub(super) use retention::{
    expire_audio, expire_files, expire_logs, expire_results, insert_erasure, list_erasures, select_accounts,
    select_jobs_ended_before, select_jobs_to_empty, select_jobs_to_forget, truncate_log,
};
pub(super) use usage::{select_usage, select_usage_by_day};
pub(super) use webhooks::{
    delete_webhook, insert_webhook, list_webhooks, replace_configured_webhooks, select_webhook,
};

use super::error::StoreError;
use crate::model::cause::chain;
use crate::model::id::{AccountId, BlobKey};

type Answer<T> = Result<T, StoreError>;

const WRITE_PROBE: &str = "
    INSERT INTO probe (id, account_id, written_ms) VALUES ('probe', '', $1)
    ON CONFLICT (id) DO UPDATE SET written_ms = excluded.written_ms";

pub(in crate::store) async fn write_probe(db: &mut SqliteConnection, now_ms: i64) -> Answer<()> {
    query(WRITE_PROBE).bind(now_ms).execute(db).await?;
    Ok(())
}

/// The condition that $1 is the account, where there is one. In one statement for both cases no
/// index of accounts would be used.
fn of_account(account: Option<&AccountId>) -> &'static str {
    match account {
        Some(_) => "account_id = $1",
        None => "$1 IS NULL",
    }
}

/// The blob of a row that goes. A key in a form that this version does not know leads it to no
/// bytes and must not keep the row: bytes without a row go with a version that knows it.
fn blob_to_remove(key: &str) -> Option<BlobKey> {
    let parsed = BlobKey::parse(key);
    if parsed.is_none() {
        tracing::error!("a row named bytes under a key that this version does not know; they stay");
    }
    parsed
}

/// What was read of a row. One that cannot be read is told and passed over: the others of its list
/// are as good as ever.
fn readable<T>(read: Answer<T>) -> Option<T> {
    read.inspect_err(|error| tracing::error!(error = chain(error), "a row was passed over")).ok()
}

/// What the database does for a statement, step by step.
#[cfg(test)]
async fn explain(db: &mut SqliteConnection, statement: &str) -> Answer<Vec<String>> {
    let sql = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"));
    let rows: Vec<(i64, i64, i64, String)> = query_as(sql).fetch_all(db).await?;
    Ok(rows.into_iter().map(|row| row.3).collect())
}

/// The text of a value of ours; such values always have one.
fn to_json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("model types have string keys and finite numbers")
}
