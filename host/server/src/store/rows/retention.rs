//! Records of what was erased.

use sqlx::FromRow;

use crate::model::id::AccountId;
use crate::store::retention::ErasureRecord;

/// A row of `erasures`.
#[derive(FromRow)]
pub(in crate::store) struct ErasureRow {
    account_id: String,
    job_id: Option<String>,
    class: String,
    reason: String,
    erased_ms: i64,
}

impl From<ErasureRow> for ErasureRecord {
    fn from(row: ErasureRow) -> Self {
        let ErasureRow { account_id, job_id, class, reason, erased_ms } = row;
        Self { account_id: AccountId(account_id), job_id, class, reason, erased_ms }
    }
}
