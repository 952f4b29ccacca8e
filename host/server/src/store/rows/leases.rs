//! Claims and checkpoints.

use sqlx::FromRow;

use super::columns::Place;
use crate::store::error::StoreError;
use crate::store::leases::Checkpoint;

/// What a claim returns of its row.
#[derive(FromRow)]
pub(in crate::store) struct ClaimRow {
    pub id: String,
    pub attempts: i64,
    pub crashes: i64,
    pub faults: i64,
    pub first_claim_ms: i64,
}

/// A row of `checkpoints`.
#[derive(FromRow)]
pub(in crate::store) struct CheckpointRow {
    step: String,
    digest: String,
    blob_key: String,
}

impl TryFrom<CheckpointRow> for Checkpoint {
    type Error = StoreError;

    fn try_from(row: CheckpointRow) -> Result<Self, StoreError> {
        let place = Place { table: "checkpoints", id: &row.step };
        let blob_key = place.blob_key("blob_key", &row.blob_key)?;
        Ok(Self { step: row.step, digest: row.digest, blob_key })
    }
}
