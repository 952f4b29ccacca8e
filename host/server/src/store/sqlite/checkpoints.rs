//! Checkpoints of running jobs.

use sqlx::{SqliteConnection, query, query_as};

use super::Answer;
use crate::model::id::JobId;
use crate::store::leases::{Checkpoint, Lease};
use crate::store::rows::CheckpointRow;

const SELECT_CHECKPOINTS: &str = "
    SELECT step, digest, blob_key FROM checkpoints WHERE job_id = $1 ORDER BY step";

/// What earlier claims reached. One that cannot be read is as good as none: the step is done
/// again.
pub(super) async fn select_checkpoints(db: &mut SqliteConnection, id: JobId) -> Answer<Vec<Checkpoint>> {
    let rows: Vec<CheckpointRow> = query_as(SELECT_CHECKPOINTS).bind(id.to_string()).fetch_all(db).await?;
    Ok(rows.into_iter().filter_map(|row| Checkpoint::try_from(row).ok()).collect())
}

// A job that gets further is not stuck at what ended its process. A step that is done once
// more is no progress.
const FORGET_CRASHES: &str = "
    UPDATE jobs SET crashes = 0
    WHERE id = $1 AND lease_owner = $2 AND attempts = $3 AND crashes > 0
      AND NOT EXISTS (SELECT 1 FROM checkpoints WHERE job_id = $1 AND step = $4)";

const SAVE_CHECKPOINT: &str = "
    INSERT INTO checkpoints (job_id, step, account_id, digest, blob_key)
    SELECT id, $4, account_id, $5, $6 FROM jobs
    WHERE id = $1 AND lease_owner = $2 AND attempts = $3
    ON CONFLICT (job_id, step) DO UPDATE SET digest = excluded.digest, blob_key = excluded.blob_key";

pub(in crate::store) async fn save_checkpoint(
    db: &mut SqliteConnection,
    lease: &Lease,
    checkpoint: &Checkpoint,
) -> Answer<bool> {
    query(FORGET_CRASHES)
        .bind(lease.job_id.to_string())
        .bind(&lease.owner)
        .bind(lease.attempt)
        .bind(&checkpoint.step)
        .execute(&mut *db)
        .await?;
    let done = query(SAVE_CHECKPOINT)
        .bind(lease.job_id.to_string())
        .bind(&lease.owner)
        .bind(lease.attempt)
        .bind(&checkpoint.step)
        .bind(&checkpoint.digest)
        .bind(checkpoint.blob_key.as_str())
        .execute(db)
        .await?;
    Ok(done.rows_affected() == 1)
}

const DELETE_CHECKPOINTS: &str = "DELETE FROM checkpoints WHERE job_id = $1";

pub(super) async fn delete_checkpoints(db: &mut SqliteConnection, job_id: &str) -> Answer<()> {
    query(DELETE_CHECKPOINTS).bind(job_id).execute(db).await?;
    Ok(())
}
