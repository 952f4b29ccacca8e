//! One job, for good.

use crate::blob::Blobs;
use crate::model::cause::chain;
use crate::model::id::{AccountId, JobId};
use crate::store::{Erasure, Store, StoreError};

/// Erases a final job: its rows first, so that nothing leads to its bytes any more, then the
/// bytes. Those that cannot be removed now have no row, so the sweeper removes them later.
pub async fn erase_job(
    store: &Store,
    blobs: &Blobs,
    account: &AccountId,
    id: JobId,
) -> Result<Erasure, StoreError> {
    let erasure = store.erase_job(account, id).await?;
    if let Erasure::Erased { blobs: keys } = &erasure {
        for key in keys {
            if let Err(error) = blobs.delete(key).await {
                tracing::warn!(job = %id, error = chain(&error), "bytes of an erased job are left to the sweeper");
            }
        }
    }
    Ok(erasure)
}
