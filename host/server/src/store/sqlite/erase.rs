//! Removing jobs. Metadata, checkpoints and deliveries go with their job by the foreign keys.

use sqlx::{SqliteConnection, query, query_as, query_scalar};

use super::Answer;
use crate::model::id::{AccountId, BlobKey, JobId};
use crate::store::erase::Erasure;
use crate::store::error::StoreError;

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
    let mut keys: Vec<String> = query_scalar(SELECT_BLOBS).bind(&id).fetch_all(&mut *db).await?;
    query(DELETE_JOB).bind(&id).execute(&mut *db).await?;
    if let Some(file_id) = file_id {
        let audio: Option<Option<String>> =
            query_scalar(DELETE_UNUSED_FILE).bind(file_id).fetch_optional(&mut *db).await?;
        keys.extend(audio.flatten());
    }
    let parse = |key: String| {
        BlobKey::parse(&key).ok_or_else(|| StoreError::Corrupt {
            table: "jobs",
            id: id.clone(),
            cause: "blob key".to_owned(),
        })
    };
    Ok(Erasure::Erased { blobs: keys.into_iter().map(parse).collect::<Answer<_>>()? })
}
