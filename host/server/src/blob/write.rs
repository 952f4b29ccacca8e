//! Writing a blob so that it is there completely or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

use super::error::BlobError;
use super::folder::{in_background, path_of};
use crate::model::id::{BlobArea, BlobKey};

/// Bytes moved at once from a stream to the disk.
const PIECE_BYTES: usize = 256 * 1024;

/// A blob that has become durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Where it lies.
    pub key: BlobKey,
    /// Its length.
    pub size_bytes: u64,
    /// SHA-256 of its bytes, hex.
    pub sha256: String,
}

/// A blob that is being written. Dropped before [`Unfinished::publish`], it leaves nothing.
pub struct Unfinished {
    root: Arc<Path>,
    area: BlobArea,
    file: tokio::fs::File,
    temporary: Temporary,
}

impl Unfinished {
    pub(super) fn start(root: Arc<Path>, area: BlobArea) -> Result<Self, BlobError> {
        let (temporary, file) = Temporary::create(&root)?;
        Ok(Self { root, area, file: tokio::fs::File::from_std(file), temporary })
    }

    /// The file to write to; empty at first, readable as well.
    pub fn file(&mut self) -> &mut tokio::fs::File {
        &mut self.file
    }

    /// Makes the blob durable under a new key.
    pub async fn publish(mut self) -> Result<BlobKey, BlobError> {
        self.file.flush().await.map_err(BlobError::disk("write a blob"))?;
        let file = self.file.into_std().await;
        let key = BlobKey::new(self.area);
        let (root, temporary) = (self.root, self.temporary);
        in_background(move || publish(&root, file, temporary, &key).map(|()| key)).await
    }

    /// Takes in all that `source` gives, at most `limit_bytes`; gives their number and their
    /// SHA-256, hex.
    pub async fn copy(
        &mut self,
        mut source: impl AsyncRead + Unpin,
        limit_bytes: u64,
    ) -> Result<(u64, String), BlobError> {
        let mut piece = vec![0; PIECE_BYTES];
        let mut digest = Sha256::new();
        let mut size_bytes = 0_u64;
        loop {
            let length = source.read(&mut piece).await.map_err(BlobError::Source)?;
            if length == 0 {
                return Ok((size_bytes, hex::encode(digest.finalize())));
            }
            size_bytes += length as u64;
            if size_bytes > limit_bytes {
                return Err(BlobError::TooLarge { limit_bytes });
            }
            digest.update(&piece[..length]);
            self.file.write_all(&piece[..length]).await.map_err(BlobError::disk("write a blob"))?;
        }
    }
}

/// Stores bytes that are in memory.
pub(super) fn put(root: &Path, area: BlobArea, bytes: &[u8]) -> Result<BlobKey, BlobError> {
    let (temporary, mut file) = Temporary::create(root)?;
    file.write_all(bytes).map_err(BlobError::disk("write a blob"))?;
    let key = BlobKey::new(area);
    publish(root, file, temporary, &key)?;
    Ok(key)
}

/// 1. Bytes to the disk. 2. Name to the folder. 3. Folder to the disk.
fn publish(root: &Path, file: File, temporary: Temporary, key: &BlobKey) -> Result<(), BlobError> {
    file.sync_all().map_err(BlobError::disk("flush a blob"))?;
    let target = path_of(root, key);
    let shelf = target.parent().expect("a key has folders");
    if create_shelf(shelf).map_err(BlobError::disk("create a blob folder"))? {
        let area = shelf.parent().expect("a key has folders");
        flush_folder(area).map_err(BlobError::disk("flush a blob folder"))?;
    }
    temporary.rename(&target).map_err(BlobError::disk("rename a blob"))?;
    flush_folder(shelf).map_err(BlobError::disk("flush a blob folder"))
}

/// Whether the folder is new.
fn create_shelf(shelf: &Path) -> io::Result<bool> {
    match fs::create_dir(shelf) {
        Ok(()) => Ok(true),
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(cause) => Err(cause),
    }
}

fn flush_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// An unfinished file, removed when dropped.
struct Temporary {
    path: PathBuf,
}

impl Temporary {
    fn create(root: &Path) -> Result<(Self, File), BlobError> {
        let path = root.join("tmp").join(uuid::Uuid::new_v4().simple().to_string());
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(BlobError::disk("create a blob"))?;
        Ok((Self { path }, file))
    }

    fn rename(self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a rename there is nothing under this name; what cannot be removed now is
        // removed by the sweeper.
        let _ = fs::remove_file(&self.path);
    }
}
