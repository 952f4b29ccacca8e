//! Identities of model files: hashed once, again only when the file has changed.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use super::failure::{Failure, Stop};
use crate::model::code::Code;

/// Bytes hashed at once.
const PIECE_BYTES: usize = 1 << 20;

/// Length and time of change: what tells an edited file from the one that was hashed.
type Version = (u64, SystemTime);

/// SHA-256 of each model file that a job has used.
#[derive(Default, Clone)]
pub struct ModelDigests {
    known: Arc<Mutex<HashMap<PathBuf, (Version, String)>>>,
}

impl ModelDigests {
    /// The digest of `file`, hex.
    pub async fn of(&self, file: &Path) -> Result<String, Stop> {
        let (known, path) = (self.known.clone(), file.to_owned());
        let hashing = tokio::task::spawn_blocking(move || digest(&known, &path));
        match hashing.await {
            Ok(Ok(digest)) => Ok(digest),
            Ok(Err(error)) => Err(Failure::new(Code::ModelUnavailable, &error).into()),
            Err(error) => Err(Failure::new(Code::Internal, &error).into()),
        }
    }
}

fn digest(known: &Mutex<HashMap<PathBuf, (Version, String)>>, path: &Path) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    let version = (metadata.len(), metadata.modified()?);
    // Held while hashing: two jobs that start together hash once.
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((hashed, digest)) = known.get(path)
        && *hashed == version
    {
        return Ok(digest.clone());
    }
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match file.read(&mut piece)? {
            0 => break,
            length => hasher.update(&piece[..length]),
        }
    }
    let digest = hex::encode(hasher.finalize());
    known.insert(path.to_owned(), (version, digest.clone()));
    Ok(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_changed_file_has_another_digest_and_a_missing_one_is_our_failure() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("model.bin");
        let digests = ModelDigests::default();
        assert!(matches!(digests.of(&path).await, Err(Stop::Failed(f)) if f.code == Code::ModelUnavailable));
        fs::write(&path, b"abc").expect("writes");
        let first = digests.of(&path).await.expect("hashes");
        // FIPS 180-2, appendix B.1.
        assert_eq!(first, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        fs::write(&path, b"abcd").expect("writes");
        assert_ne!(digests.of(&path).await.expect("hashes"), first);
    }
}
