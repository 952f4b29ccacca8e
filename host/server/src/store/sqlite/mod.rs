//! All SQL of the store, in the dialect that SQLite and PostgreSQL share.
//!
//! One function per statement or small group of statements; the caller owns the
//! transaction. Nothing here decides anything.

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

use sqlx::{SqliteConnection, query};

pub(super) use admission::refusal;
pub(super) use backlog::{count_live, count_owed};
pub(super) use checkpoints::save_checkpoint;
pub(super) use claim::claim;
pub(super) use client_metadata::attach_metadata;
pub(super) use deliveries::{
    claim_delivery, end_attempt, list_deliveries, replay_delivery, select_deliveries_of_job, select_delivery,
    select_due_deliveries,
};
pub(super) use erase::{empty_job, erase_job};
pub(super) use files::{insert_file, mentions_blob, select_file, update_file};
pub(super) use jobs::{count_unfinished, insert_job, is_unfinished, select_job};
pub(super) use keys::{insert_key, revoke_key, select_assigned_plans, select_keys};
#[cfg(test)]
pub(super) use lists::explain_job_ids;
pub(super) use lists::select_job_ids;
pub(super) use queue::{end_leases, enter_slot, finish, prolong, release};
pub(super) use repeats::{delete_marks, insert_mark, select_mark};
#[cfg(test)]
pub(super) use retention::explain_retention;
pub(super) use retention::{
    expire_audio, expire_files, expire_logs, expire_results, insert_erasure, list_erasures,
    select_accounts_with_data, select_jobs_ended_before, select_jobs_to_empty, select_jobs_to_forget,
    truncate_log,
};
pub(super) use usage::{select_usage, select_usage_by_day};
pub(super) use webhooks::{
    delete_webhook, insert_webhook, list_webhooks, replace_configured_webhooks, select_webhook,
};

use super::error::StoreError;

type Answer<T> = Result<T, StoreError>;

const WRITE_PROBE: &str = "
    INSERT INTO probe (id, account_id, written_ms) VALUES ('probe', '', $1)
    ON CONFLICT (id) DO UPDATE SET written_ms = excluded.written_ms";

pub(in crate::store) async fn write_probe(db: &mut SqliteConnection, now_ms: i64) -> Answer<()> {
    query(WRITE_PROBE).bind(now_ms).execute(db).await?;
    Ok(())
}

/// The text of a value of ours; such values always have one.
fn to_json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("model types have string keys and finite numbers")
}
