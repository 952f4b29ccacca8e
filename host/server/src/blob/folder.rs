//! The folder: `<root>/<area>/<xx>/<id>`, and `<root>/tmp` for what is being written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use tokio::task::spawn_blocking;

use super::error::BlobError;
use super::write::{self, Stored, Unfinished};
use crate::model::cause::chain;
use crate::model::id::{BlobArea, BlobKey};

/// The blob store of one data folder. Cheap to clone.
#[derive(Clone)]
pub struct Blobs {
    root: Arc<Path>,
}

impl Blobs {
    /// Opens or creates the folder.
    pub fn open(root: &Path) -> Result<Self, BlobError> {
        let folders = BlobArea::ALL.iter().map(|area| root.join(area.name()));
        for folder in folders.chain([root.join("tmp")]) {
            fs::create_dir_all(folder).map_err(BlobError::disk("create the blob folder"))?;
        }
        Ok(Self { root: root.into() })
    }

    /// Stores bytes that are in memory.
    pub async fn put(&self, area: BlobArea, bytes: Vec<u8>) -> Result<BlobKey, BlobError> {
        let root = self.root.clone();
        in_background(move || write::put(&root, area, &bytes)).await
    }

    /// Starts a blob that somebody else writes piece by piece.
    pub async fn begin(&self, area: BlobArea) -> Result<Unfinished, BlobError> {
        let root = self.root.clone();
        in_background(move || Unfinished::start(root, area)).await
    }

    /// Stores all that `source` gives, at most `limit_bytes`.
    pub async fn put_stream(
        &self,
        area: BlobArea,
        source: impl tokio::io::AsyncRead + Unpin,
        limit_bytes: u64,
    ) -> Result<Stored, BlobError> {
        let mut unfinished = self.begin(area).await?;
        let (size_bytes, sha256) = unfinished.copy(source, limit_bytes).await?;
        let key = unfinished.publish().await?;
        Ok(Stored { key, size_bytes, sha256 })
    }

    /// All bytes of a blob.
    pub async fn get(&self, key: &BlobKey) -> Result<Vec<u8>, BlobError> {
        let (path, key) = (self.path(key), key.clone());
        in_background(move || fs::read(path).map_err(reading(key))).await
    }

    /// A blob as a file, for reading in pieces or at an offset.
    pub async fn open_blob(&self, key: &BlobKey) -> Result<fs::File, BlobError> {
        let (path, key) = (self.path(key), key.clone());
        in_background(move || fs::File::open(path).map_err(reading(key))).await
    }

    /// Removes a blob; one that is gone already is no error.
    pub async fn delete(&self, key: &BlobKey) -> Result<(), BlobError> {
        let path = self.path(key);
        in_background(move || remove(&path)).await
    }

    /// Whether a blob is there.
    pub async fn exists(&self, key: &BlobKey) -> Result<bool, BlobError> {
        let path = self.path(key);
        in_background(move || path.try_exists().map_err(BlobError::disk("look for a blob"))).await
    }

    /// Where the bytes lie, for readers that need a path. The blob is complete and never
    /// changes, but may be deleted.
    pub fn path(&self, key: &BlobKey) -> PathBuf {
        path_of(&self.root, key)
    }

    /// Removes unfinished blobs that were begun before `before`: their writer is gone.
    pub async fn remove_unfinished(&self, before: SystemTime) -> Result<(), BlobError> {
        let folder = self.root.join("tmp");
        in_background(move || remove_old(&folder, before)).await
    }

    /// The shelves: some hundred folders among which the blobs are spread evenly.
    pub async fn shelves(&self) -> Result<Vec<Shelf>, BlobError> {
        let root = self.root.clone();
        in_background(move || {
            let mut shelves = Vec::new();
            for area in BlobArea::ALL {
                let found = entries(&root.join(area.name()))?;
                shelves.extend(found.into_iter().map(|entry| Shelf { area, folder: entry.path() }));
            }
            Ok(shelves)
        })
        .await
    }

    /// Blobs of a shelf written before `before`.
    pub async fn older_than(&self, shelf: Shelf, before: SystemTime) -> Result<Vec<BlobKey>, BlobError> {
        in_background(move || shelf.older_than(before)).await
    }

    /// Blobs of all shelves written before `before`.
    #[cfg(test)]
    pub async fn all_older_than(&self, before: SystemTime) -> Result<Vec<BlobKey>, BlobError> {
        let mut old = Vec::new();
        for shelf in self.shelves().await? {
            old.extend(self.older_than(shelf, before).await?);
        }
        Ok(old)
    }

    /// Writes and removes a small file: says whether the disk takes blobs at this moment.
    pub async fn probe(&self) -> Result<(), BlobError> {
        let path = self.root.join("tmp").join("probe");
        in_background(move || {
            fs::write(&path, [0_u8; 4096]).map_err(BlobError::disk("write a probe"))?;
            remove(&path)
        })
        .await
    }
}

/// The path of a key; keys are made by us and hold nothing but hex digits and area names.
pub(super) fn path_of(root: &Path, key: &BlobKey) -> PathBuf {
    root.join(key.as_str())
}

/// Runs file system calls where they may block.
pub(super) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BlobError> + Send + 'static,
) -> Result<T, BlobError> {
    match spawn_blocking(work).await {
        Ok(outcome) => outcome,
        // What a panic says stays out of the log.
        Err(_) => {
            let cause = io::Error::other("the thread panicked");
            Err(BlobError::Disk { action: "run in the background", cause })
        }
    }
}

fn reading(key: BlobKey) -> impl FnOnce(io::Error) -> BlobError {
    move |cause| match cause.kind() {
        io::ErrorKind::NotFound => BlobError::Missing(key),
        _ => BlobError::Disk { action: "read a blob", cause },
    }
}

fn remove(path: &Path) -> Result<(), BlobError> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(BlobError::disk("delete a blob")(cause)),
        _ => Ok(()),
    }
}

fn remove_old(folder: &Path, before: SystemTime) -> Result<(), BlobError> {
    for file in entries(folder)? {
        if modified(&file).is_some_and(|at| at < before)
            && let Err(error) = remove(&file.path())
        {
            tracing::warn!(error = chain(&error), "an unfinished blob cannot be removed");
        }
    }
    Ok(())
}

/// One of the folders that hold the blobs of an area.
pub struct Shelf {
    area: BlobArea,
    folder: PathBuf,
}

impl Shelf {
    fn older_than(&self, before: SystemTime) -> Result<Vec<BlobKey>, BlobError> {
        let shelf = self.folder.file_name().unwrap_or_default().to_string_lossy();
        let mut old = Vec::new();
        for file in entries(&self.folder)? {
            let text = format!("{}/{shelf}/{}", self.area.name(), file.file_name().to_string_lossy());
            // A file that we did not name is not ours to remove.
            let Some(key) = BlobKey::parse(&text) else { continue };
            if modified(&file).is_some_and(|at| at < before) {
                old.push(key);
            }
        }
        Ok(old)
    }
}

fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>, BlobError> {
    let reading = || BlobError::disk("list the blob folder");
    fs::read_dir(folder).map_err(reading())?.map(|entry| entry.map_err(reading())).collect()
}

fn modified(entry: &fs::DirEntry) -> Option<SystemTime> {
    entry.metadata().and_then(|m| m.modified()).ok()
}
