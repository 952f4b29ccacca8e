//! Files and the blobs that rows mention.

use serde_json::json;
use sqlx::{SqliteConnection, query, query_as, query_scalar};

use super::{Answer, blob_to_remove};
use crate::model::id::{AccountId, BlobKey, FileId};
use crate::store::files::{FileFacts, FileRecord};
use crate::store::leases::Lease;
use crate::store::rows::FileRow;

// The account has a row from its first file on, as it has from its first job.
const INSERT_FILE: &str = "
    INSERT INTO accounts (account_id, plan, created_ms, last_claim_ms) VALUES ($2, NULL, $10, 0)
    ON CONFLICT (account_id) DO NOTHING;
    INSERT INTO files (id, account_id, filename, source, audio_duration_s, number_of_channels,
                       size_bytes, sha256, blob_key, created_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

pub(in crate::store) async fn insert_file(db: &mut SqliteConnection, file: &FileRecord) -> Answer<()> {
    let facts = &file.facts;
    query(INSERT_FILE)
        .bind(file.id.to_string())
        .bind(&file.account_id.0)
        .bind(&facts.filename)
        .bind(&file.source)
        .bind(facts.audio_duration_s)
        .bind(facts.number_of_channels.map(i64::from))
        .bind(facts.size_bytes.map(|n| n as i64))
        .bind(&facts.sha256)
        .bind(facts.blob_key.as_ref().map(BlobKey::as_str))
        .bind(file.created_ms)
        .execute(db)
        .await?;
    Ok(())
}

const SELECT_FILE: &str = "
    SELECT id, account_id, source, filename, audio_duration_s, number_of_channels,
           size_bytes, sha256, blob_key, created_ms
    FROM files WHERE id = $1 AND account_id = $2";

pub(in crate::store) async fn select_file(
    db: &mut SqliteConnection,
    account: &AccountId,
    id: FileId,
) -> Answer<Option<FileRecord>> {
    let row: Option<FileRow> =
        query_as(SELECT_FILE).bind(id.to_string()).bind(&account.0).fetch_optional(db).await?;
    row.map(FileRecord::try_from).transpose()
}

// Absent facts leave the known ones alone. A file belongs to the job of the lease or was
// uploaded before it; in both cases the job's worker is the one that has read its bytes.
const UPDATE_FILE: &str = "
    UPDATE files
    SET filename = COALESCE($4, filename),
        audio_duration_s = COALESCE($5, audio_duration_s),
        number_of_channels = COALESCE($6, number_of_channels),
        size_bytes = COALESCE($7, size_bytes),
        sha256 = COALESCE($8, sha256),
        blob_key = COALESCE($9, blob_key)
    WHERE id = (SELECT file_id FROM jobs WHERE id = $1 AND lease_owner = $2 AND attempts = $3)";

pub(in crate::store) async fn update_file(
    db: &mut SqliteConnection,
    lease: &Lease,
    facts: &FileFacts,
) -> Answer<bool> {
    let done = query(UPDATE_FILE)
        .bind(lease.job_id.to_string())
        .bind(&lease.owner)
        .bind(lease.attempt)
        .bind(&facts.filename)
        .bind(facts.audio_duration_s)
        .bind(facts.number_of_channels.map(i64::from))
        .bind(facts.size_bytes.map(|n| n as i64))
        .bind(&facts.sha256)
        .bind(facts.blob_key.as_ref().map(BlobKey::as_str))
        .execute(db)
        .await?;
    Ok(done.rows_affected() == 1)
}

const SELECT_UNMENTIONED: &str = "
    SELECT key.value FROM json_each($1) AS key
    WHERE NOT EXISTS (SELECT 1 FROM files WHERE blob_key = key.value)
      AND NOT EXISTS (SELECT 1 FROM checkpoints WHERE blob_key = key.value)
      AND NOT EXISTS (SELECT 1 FROM jobs WHERE result_key = key.value)";

pub(in crate::store) async fn select_unmentioned_blobs(
    db: &mut SqliteConnection,
    keys: &[BlobKey],
) -> Answer<Vec<BlobKey>> {
    let texts: Vec<&str> = keys.iter().map(BlobKey::as_str).collect();
    let found: Vec<String> =
        query_scalar(SELECT_UNMENTIONED).bind(json!(texts).to_string()).fetch_all(db).await?;
    Ok(found.iter().filter_map(|key| blob_to_remove(key)).collect())
}
