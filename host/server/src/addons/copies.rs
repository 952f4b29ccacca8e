//! Copies of components under their digest, for jobs that were promised a component which has
//! been replaced since.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long a copy that was in use stays for a job that is being accepted just now.
const GRACE: Duration = Duration::from_secs(3600);

/// A folder of copies. The time of change of each tells when it was last in use.
pub struct Copies {
    folder: PathBuf,
}

impl Copies {
    /// In that folder, which is made when it is needed.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Where the copy lies, if there is one.
    pub fn path(&self, digest: &str) -> PathBuf {
        self.folder.join(format!("{digest}.wasm"))
    }

    /// Keeps the bytes that were loaded, which the file they came from may not hold any more.
    /// What else lies there under this digest is replaced.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn keep(&self, digest: &str, bytes: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let copy = self.path(digest);
        if fs::read(&copy).is_ok_and(|kept| kept == bytes) {
            return note_use(&copy);
        }
        // Complete or not at all, also after a power cut.
        let mut file = tempfile::Builder::new().suffix(".partial").tempfile_in(&self.folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(&copy)?;
        File::open(&self.folder)?.sync_all()
    }

    /// The component was in use until now.
    ///
    /// # Errors
    /// When there is no copy, or its time cannot be set.
    pub fn note_use(&self, digest: &str) -> io::Result<()> {
        note_use(&self.path(digest))
    }

    /// Removes what was not in use for an hour and is not `needed`.
    ///
    /// # Errors
    /// When the folder cannot be read or changed.
    pub fn remove_all_but(&self, needed: &HashSet<String>) -> io::Result<()> {
        let files = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            files => files?,
        };
        for file in files {
            let file = file?;
            let path = file.path();
            let is_needed =
                path.file_stem().is_some_and(|digest| needed.contains(&*digest.to_string_lossy()));
            let age = file.metadata()?.modified()?.elapsed().unwrap_or_default();
            if !is_needed && age > GRACE {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }
}

fn note_use(copy: &Path) -> io::Result<()> {
    File::options().write(true).open(copy)?.set_modified(SystemTime::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copies() -> (tempfile::TempDir, Copies) {
        let folder = tempfile::tempdir().unwrap();
        let copies = Copies::new(folder.path().join("components"));
        (folder, copies)
    }

    fn make_old(copies: &Copies, digest: &str) {
        let file = File::options().write(true).open(copies.path(digest)).unwrap();
        file.set_modified(SystemTime::now() - 2 * GRACE).unwrap();
    }

    #[test]
    fn a_copy_stays_while_a_job_needs_it_or_it_was_in_use_a_moment_ago() {
        let (_folder, copies) = copies();
        copies.remove_all_but(&HashSet::new()).unwrap();
        for digest in ["promised", "replaced", "forgotten", "loaded"] {
            copies.keep(digest, digest.as_bytes()).unwrap();
            make_old(&copies, digest);
        }
        copies.note_use("replaced").unwrap();
        copies.keep("loaded", b"loaded").unwrap();
        copies.remove_all_but(&HashSet::from(["promised".to_owned()])).unwrap();
        let left = ["promised", "replaced", "forgotten", "loaded"].map(|name| copies.path(name).exists());
        assert_eq!(left, [true, true, false, true]);
    }

    #[test]
    fn a_copy_with_other_bytes_is_replaced() {
        let (_folder, copies) = copies();
        for bytes in ["torn", "whole"] {
            copies.keep("digest", bytes.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(copies.path("digest")).unwrap(), bytes);
        }
        assert_eq!(fs::read_dir(copies.folder).unwrap().count(), 1);
    }
}
