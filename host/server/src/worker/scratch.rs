//! Folders for decoded audio: one per job, under `scratch` of the data folder.
//!
//! A folder lives as long as its job is not final, so that a resumed job finds its samples.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::model::id::JobId;

/// The folder of one job.
#[derive(Debug, Clone)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Names the folder; [`Scratch::create`] makes it.
    pub fn of(root: &Path, id: JobId) -> Self {
        Self { path: root.join(id.to_string()) }
    }

    /// Makes the folder, without what an unfinished step may have left in it.
    pub fn create_empty(&self) -> io::Result<()> {
        self.remove()?;
        fs::create_dir_all(&self.path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Brings what was written to the disk: a checkpoint is going to rely on it.
    pub fn flush(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            File::open(entry?.path())?.sync_all()?;
        }
        File::open(&self.path)?.sync_all()
    }

    /// Removes the folder; one that is gone already is no error.
    pub fn remove(&self) -> io::Result<()> {
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
