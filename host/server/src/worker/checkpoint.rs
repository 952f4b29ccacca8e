//! The values of finished steps, kept under the identity of what made them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::failure::Stop;
use super::slots::Place;
use crate::blob::Blobs;
use crate::model::cause::chain;
use crate::model::id::{BlobArea, BlobKey};
use crate::store::{Checkpoint, Lease, Store};

/// Changes whenever a step of this version would make something else of the same input, or
/// write it differently; then all checkpoints of earlier versions are redone.
const FORMAT_VERSION: u32 = 3;

/// Digest of everything that made a value: the format, and all steps before it with their
/// settings and values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity(String);

impl Identity {
    /// Nothing has been done yet.
    pub fn start() -> Self {
        Self(format!("format {FORMAT_VERSION}"))
    }

    /// This, and then `part` of `what`.
    pub fn then(&self, what: &str, part: &[u8]) -> Self {
        let mut digest = Sha256::new();
        for piece in [self.0.as_bytes(), what.as_bytes(), part] {
            digest.update((piece.len() as u64).to_le_bytes());
            digest.update(piece);
        }
        Self(hex::encode(digest.finalize()))
    }
}

/// The checkpoints of one job under one lease.
pub struct Checkpoints {
    store: Arc<Store>,
    blobs: Blobs,
    lease: Lease,
    place: Arc<Place>,
    /// False: nothing of this job may be written down.
    keeps: bool,
    saved: Mutex<HashMap<String, Checkpoint>>,
}

impl Checkpoints {
    /// Takes over what earlier claims saved.
    pub fn new(
        store: Arc<Store>,
        blobs: Blobs,
        lease: Lease,
        place: Arc<Place>,
        saved: Vec<Checkpoint>,
    ) -> Self {
        let saved = saved.into_iter().map(|checkpoint| (checkpoint.step.clone(), checkpoint));
        Self { store, blobs, lease, place, keeps: true, saved: Mutex::new(saved.collect()) }
    }

    /// For a job that may leave nothing behind: every step is done again after a crash.
    pub fn none(store: Arc<Store>, blobs: Blobs, lease: Lease, place: Arc<Place>) -> Self {
        Self { keeps: false, ..Self::new(store, blobs, lease, place, Vec::new()) }
    }

    /// The value of a step as JSON, if it was saved under this identity. What cannot be
    /// read is as good as not saved: the step is done again.
    pub async fn load(&self, step: &str, identity: &Identity) -> Option<Vec<u8>> {
        let key = self.key_of(step, identity)?;
        match self.blobs.get(&key).await {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                tracing::warn!(job = %self.lease.job_id, step, error = chain(&error), "checkpoint cannot be read");
                None
            }
        }
    }

    /// Saves the value of a step: blob first, then the row.
    pub async fn save(&self, step: &str, identity: &Identity, value: Vec<u8>) -> Result<(), Stop> {
        if !self.keeps {
            return Ok(());
        }
        let blob_key = self.blobs.put(BlobArea::Checkpoint, value).await?;
        let checkpoint = Checkpoint { step: step.to_owned(), digest: identity.0.clone(), blob_key };
        if !self.store.save_checkpoint(&self.lease, checkpoint.clone()).await? {
            return Err(Stop::Cancelled);
        }
        let replaced = self.lock().insert(step.to_owned(), checkpoint);
        match replaced {
            // A step that is done once more is no progress.
            Some(old) => self.delete_blob(&old.blob_key).await,
            None => self.place.trust(),
        }
        Ok(())
    }

    /// Removes the bytes of all steps; the rows went with the job's final change.
    pub async fn delete_blobs(&self) {
        let keys: Vec<BlobKey> = self.lock().drain().map(|(_, checkpoint)| checkpoint.blob_key).collect();
        for key in keys {
            self.delete_blob(&key).await;
        }
    }

    /// What is left behind here is removed by the sweeper.
    async fn delete_blob(&self, key: &BlobKey) {
        if let Err(error) = self.blobs.delete(key).await {
            tracing::warn!(job = %self.lease.job_id, error = chain(&error), "checkpoint cannot be removed");
        }
    }

    fn key_of(&self, step: &str, identity: &Identity) -> Option<BlobKey> {
        let saved = self.lock();
        saved.get(step).filter(|checkpoint| checkpoint.digest == identity.0).map(|c| c.blob_key.clone())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Checkpoint>> {
        self.saved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_depends_on_every_part_and_its_place() {
        let start = Identity::start();
        let one = start.then("decode", b"ab").then("segment", b"c");
        assert_eq!(one, start.then("decode", b"ab").then("segment", b"c"));
        assert_ne!(one, start.then("decode", b"a").then("segment", b"bc"));
        assert_ne!(one, start.then("segment", b"c").then("decode", b"ab"));
        assert_ne!(start.then("decodea", b"b"), start.then("decode", b"ab"));
    }
}
