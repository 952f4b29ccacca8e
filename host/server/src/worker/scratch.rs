//! Folders for audio on its way: one per job, under `scratch` of the data folder.
//!
//! A folder lives as long as its job is not final, so that a resumed job finds its samples.
//! A job that may leave nothing behind has files without names instead, for one claim.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::id::JobId;
use crate::stage::decode::ChannelFiles;

/// The folder of one job, or its nameless files.
#[derive(Debug, Clone)]
pub struct Scratch {
    path: PathBuf,
    channels: ChannelFiles,
    media: Option<Arc<Mutex<Option<File>>>>,
}

impl Scratch {
    /// Names the folder; [`Scratch::create_empty`] makes it.
    pub fn of(root: &Path, id: JobId) -> Self {
        let path = root.join(id.to_string());
        Self { channels: ChannelFiles::named(&path), path, media: None }
    }

    /// Nameless files on the disk of `root`.
    pub fn nameless(root: &Path) -> Self {
        let channels = ChannelFiles::nameless(root);
        Self { path: root.to_owned(), channels, media: Some(Arc::default()) }
    }

    /// Makes the folder, without what an unfinished step may have left in it.
    pub fn create_empty(&self) -> io::Result<()> {
        if self.is_nameless() {
            return Ok(());
        }
        self.remove()?;
        fs::create_dir_all(&self.path)
    }

    /// Whether nothing here can be found again by another process.
    pub fn is_nameless(&self) -> bool {
        self.media.is_some()
    }

    /// Decoded channels.
    pub fn channels(&self) -> &ChannelFiles {
        &self.channels
    }

    /// A nameless file for the recording itself, kept until this value is gone; `None`
    /// where recordings are kept as blobs.
    pub fn create_media(&self) -> io::Result<Option<File>> {
        let Some(media) = &self.media else { return Ok(None) };
        let file = tempfile::tempfile_in(&self.path)?;
        *media.lock().unwrap_or_else(PoisonError::into_inner) = Some(file.try_clone()?);
        Ok(Some(file))
    }

    /// The recording that was put into [`Scratch::create_media`].
    pub fn media(&self) -> io::Result<Option<File>> {
        let Some(media) = &self.media else { return Ok(None) };
        media.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(File::try_clone).transpose()
    }

    /// Where the folder is.
    #[cfg(test)]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Brings what was written to the disk: a checkpoint is going to rely on it.
    pub fn flush(&self) -> io::Result<()> {
        if self.is_nameless() {
            return Ok(());
        }
        for entry in fs::read_dir(&self.path)? {
            File::open(entry?.path())?.sync_all()?;
        }
        File::open(&self.path)?.sync_all()
    }

    /// Removes the folder; one that is gone already is no error.
    pub fn remove(&self) -> io::Result<()> {
        if self.is_nameless() {
            return Ok(());
        }
        match fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// The jobs that have a folder.
pub fn jobs_with_scratch(root: &Path) -> io::Result<Vec<JobId>> {
    let mut jobs = Vec::new();
    for entry in fs::read_dir(root)? {
        jobs.extend(JobId::parse(&entry?.file_name().to_string_lossy()));
    }
    Ok(jobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_made_empty_found_by_its_job_and_removed() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let id = JobId::new();
        let scratch = Scratch::of(root.path(), id);
        scratch.create_empty().expect("creates");
        fs::write(scratch.path().join("0.pcm"), b"half").expect("writes");
        fs::create_dir(root.path().join("something else")).expect("creates");
        scratch.flush().expect("flushes");
        assert_eq!(jobs_with_scratch(root.path()).expect("lists"), vec![id]);
        scratch.create_empty().expect("creates again");
        assert_eq!(fs::read_dir(scratch.path()).expect("lists").count(), 0);
        scratch.remove().expect("removes");
        scratch.remove().expect("removing twice is no error");
        assert_eq!(jobs_with_scratch(root.path()).expect("lists"), Vec::new());
    }
}
