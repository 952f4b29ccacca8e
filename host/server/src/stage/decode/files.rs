//! Where decoded channels are kept: in a folder that a later run finds again, or in files
//! without a name, which end with the process and which no search of the disk finds.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The channel files of one recording; clones mean the same files.
#[derive(Debug, Clone)]
pub struct ChannelFiles {
    folder: PathBuf,
    nameless: Option<Arc<Mutex<BTreeMap<usize, File>>>>,
}

impl ChannelFiles {
    /// Files with names in `folder`, which must exist when the first is made.
    pub fn named(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), nameless: None }
    }

    /// Files without names on the disk of `folder`.
    pub fn nameless(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), nameless: Some(Arc::default()) }
    }

    /// An empty file for a channel, in the place of an earlier one.
    pub(super) fn create(&self, channel: usize) -> io::Result<File> {
        let Some(nameless) = &self.nameless else {
            let path = self.path(channel);
            return File::options().read(true).write(true).create(true).truncate(true).open(path);
        };
        let file = tempfile::tempfile_in(&self.folder)?;
        lock(nameless).insert(channel, file.try_clone()?);
        Ok(file)
    }

    /// The file of a channel. Its position may be shared: read and write at offsets.
    pub(super) fn open(&self, channel: usize) -> io::Result<File> {
        let Some(nameless) = &self.nameless else { return File::open(self.path(channel)) };
        lock(nameless).get(&channel).ok_or(io::ErrorKind::NotFound)?.try_clone()
    }

    /// Removes the file of a channel.
    pub(super) fn remove(&self, channel: usize) -> io::Result<()> {
        let Some(nameless) = &self.nameless else { return fs::remove_file(self.path(channel)) };
        lock(nameless).remove(&channel).map(drop).ok_or(io::ErrorKind::NotFound.into())
    }

    fn path(&self, channel: usize) -> PathBuf {
        self.folder.join(format!("channel-{channel:02}.s16"))
    }
}

fn lock(files: &Mutex<BTreeMap<usize, File>>) -> MutexGuard<'_, BTreeMap<usize, File>> {
    files.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn both_kinds_keep_channels_apart_and_only_one_shows_in_the_folder() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (files, entries) in
            [(ChannelFiles::nameless(folder.path()), 0), (ChannelFiles::named(folder.path()), 1)]
        {
            for channel in [0, 3] {
                let file = files.create(channel).expect("creates");
                file.write_all_at(&[channel as u8], 0).expect("writes");
            }
            files.remove(0).expect("removes");
            assert!(files.open(0).is_err() && files.remove(0).is_err());
            let mut byte = [9];
            files.clone().open(3).expect("opens").read_exact_at(&mut byte, 0).expect("reads");
            assert_eq!(byte, [3]);
            assert_eq!(fs::read_dir(folder.path()).expect("lists").count(), entries);
        }
    }
}
