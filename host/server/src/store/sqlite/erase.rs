//! Removing jobs. Metadata, checkpoints and deliveries go with their job by the foreign keys.

use sqlx::{SqliteConnection, query, query_as, query_scalar};

use super::{Answer, blob_to_remove};
use crate::model::id::{AccountId, BlobKey, JobId};
use crate::model::job::JobSpec;
use crate::store::erase::Erasure;

const SELECT_STATE: &str = "
    SELECT completed_ms IS NOT NULL, file_id FROM jobs WHERE id = $1 AND account_id = $2";

const SELECT_BLOBS: &str = "
    SELECT result_key FROM jobs WHERE id = $1 AND result_key IS NOT NULL
    UNION ALL
    SELECT blob_key FROM checkpoints WHERE job_id = $1";

const DELETE_JOB: &str = "DELETE FROM jobs WHERE id = $1";

const DELETE_UNUSED_FILE: &str = "
    DELETE FROM files WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM jobs WHERE file_id = $1)
    RETURNING blob_key";

pub(in crate::store) async fn erase_job(
    db: &mut SqliteConnection,
    account: &AccountId,
    id: JobId,
) -> Answer<Erasure> {
    let id = id.to_string();
    let state: Option<(bool, Option<String>)> =
        query_as(SELECT_STATE).bind(&id).bind(&account.0).fetch_optional(&mut *db).await?;
    let Some((is_final, file_id)) = state else { return Ok(Erasure::Missing) };
    if !is_final {
        return Ok(Erasure::Unfinished);
    }
    let keys: Vec<String> = query_scalar(SELECT_BLOBS).bind(&id).fetch_all(&mut *db).await?;
    query(DELETE_JOB).bind(&id).execute(&mut *db).await?;
    let audio = delete_unused_file(db, file_id).await?;
    Ok(Erasure::Erased { blobs: keys.iter().chain(&audio).filter_map(|key| blob_to_remove(key)).collect() })
}

const EMPTY_JOB: &str = "
    UPDATE jobs SET spec = $2, result_key = NULL, post_session_metadata = '{}', client_metadata = '{}',
                    file_id = NULL
    WHERE id = $1";

const DELETE_PARTS: [&str; 3] = [
    "DELETE FROM job_metadata WHERE job_id = $1",
    "DELETE FROM checkpoints WHERE job_id = $1",
    "DELETE FROM deliveries WHERE job_id = $1 AND target = 'callback'",
];

pub(in crate::store) async fn empty_job(db: &mut SqliteConnection, id: JobId) -> Answer<Vec<BlobKey>> {
    let id = id.to_string();
    let row: Option<Option<String>> =
        query_scalar("SELECT file_id FROM jobs WHERE id = $1").bind(&id).fetch_optional(&mut *db).await?;
    // Its client was faster.
    let Some(file_id) = row else { return Ok(Vec::new()) };
    let keys: Vec<String> = query_scalar(SELECT_BLOBS).bind(&id).fetch_all(&mut *db).await?;
    let spec = serde_json::to_string(&JobSpec::erased()).expect("a spec is JSON");
    query(EMPTY_JOB).bind(&id).bind(spec).execute(&mut *db).await?;
    for part in DELETE_PARTS {
        query(part).bind(&id).execute(&mut *db).await?;
    }
    let audio = delete_unused_file(db, file_id).await?;
    Ok(keys.iter().chain(&audio).filter_map(|key| blob_to_remove(key)).collect())
}

/// Removes a file that no job uses any more, and tells where its bytes lie.
async fn delete_unused_file(db: &mut SqliteConnection, file_id: Option<String>) -> Answer<Option<String>> {
    let Some(file_id) = file_id else { return Ok(None) };
    let audio: Option<Option<String>> =
        query_scalar(DELETE_UNUSED_FILE).bind(file_id).fetch_optional(db).await?;
    Ok(audio.flatten())
}
