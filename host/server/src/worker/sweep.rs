//! Removes what crashes left behind: blobs without rows, scratch folders without jobs; and
//! the marks of requests that have outlived their window.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::blocking::on_disk;
use super::queue::Parts;
use super::scratch::{Scratch, jobs_with_scratch};
use super::steps::Steps;
use crate::model::cause::chain;
use crate::store::StoreError;

/// Between two sweeps.
const PAUSE: Duration = Duration::from_secs(3600);
/// A blob is written before its row; after this long the row will not come any more.
const ORPHAN_AGE: Duration = Duration::from_secs(3600);
/// Keys looked up at once.
const KEYS: usize = 500;
/// Marks forgotten at once.
const MARKS: u32 = 500;

/// Why a sweep ended early; the next one begins again.
#[derive(Debug, thiserror::Error)]
pub(super) enum SweepError {
    #[error(transparent)]
    Blob(#[from] crate::blob::BlobError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot sweep scratch folders")]
    Scratch(#[from] std::io::Error),
}

/// Sweeps now and then, until it is dropped.
pub(super) async fn run<S: Steps>(parts: Arc<Parts<S>>) {
    loop {
        if let Err(error) = sweep(&parts, SystemTime::now()).await {
            tracing::warn!(error = chain(&error), "sweep ended early");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// One sweep, as if it were `now`.
pub(super) async fn sweep<S: Steps>(parts: &Parts<S>, now: SystemTime) -> Result<(), SweepError> {
    let removed = sweep_blobs(parts, now).await? + sweep_scratch(parts).await?;
    if removed > 0 {
        tracing::info!(removed, "swept what crashes left behind");
    }
    while parts.store.forget_marks(parts.clock.now_ms(), MARKS).await? > 0 {}
    Ok(())
}

async fn sweep_blobs<S: Steps>(parts: &Parts<S>, now: SystemTime) -> Result<usize, SweepError> {
    let before = now - ORPHAN_AGE;
    parts.blobs.remove_unfinished(before).await?;
    let mut removed = 0;
    for shelf in parts.blobs.shelves().await? {
        let old = parts.blobs.older_than(shelf, before).await?;
        for keys in old.chunks(KEYS) {
            for key in parts.store.unmentioned_blobs(keys).await? {
                match parts.blobs.delete(&key).await {
                    Ok(()) => removed += 1,
                    Err(error) => {
                        tracing::warn!(error = chain(&error), "bytes without a row cannot be removed");
                    }
                }
            }
        }
    }
    Ok(removed)
}

async fn sweep_scratch<S: Steps>(parts: &Parts<S>) -> Result<usize, SweepError> {
    let root = parts.settings.scratch_dir.clone();
    let mut removed = 0;
    for id in on_disk(move || jobs_with_scratch(&root)).await? {
        if parts.store.is_unfinished(id).await? {
            continue;
        }
        let scratch = Scratch::of(&parts.settings.scratch_dir, id);
        match on_disk(move || scratch.remove()).await {
            Ok(()) => removed += 1,
            Err(error) => {
                tracing::warn!(job = %id, error = chain(&error), "a scratch folder cannot be removed")
            }
        }
    }
    Ok(removed)
}
