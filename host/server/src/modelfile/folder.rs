//! The folder of installed models: names, installing, one writer at a time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::check::{ModelInfo, check};
use super::error::ModelFileError;
use super::output::{Output, Written, digest_of};
use super::record::{self, Record};
use super::weights::Weights;

const PREFIX: &str = "ggml-";
const SUFFIX: &str = ".bin";
/// Start of the names of unfinished work; whoever holds the lock may remove it.
const UNFINISHED: &str = ".unfinished-";
const LOCK: &str = ".lock";

/// The file name of a model: `ggml-base-q8_0.bin`, without a form for f16, as the hub
/// names them.
pub fn file_name(name: &str, weights: Weights) -> String {
    match weights {
        Weights::F16 => format!("{PREFIX}{name}{SUFFIX}"),
        _ => format!("{PREFIX}{name}-{}{SUFFIX}", weights.name()),
    }
}

/// Refuses what could leave the folder or confuse a file name.
pub(super) fn validate_name(name: &str) -> Result<(), ModelFileError> {
    let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let allowed = |byte: u8| plain(&byte) || matches!(byte, b'.' | b'-' | b'_');
    let starts_well = name.as_bytes().first().is_some_and(plain);
    if starts_well && name.len() <= 64 && name.bytes().all(allowed) {
        return Ok(());
    }
    Err(ModelFileError::BadName { name: name.to_owned() })
}

/// A folder of models.
#[derive(Debug, Clone)]
pub struct ModelsFolder {
    path: PathBuf,
}

/// One file of the folder.
#[derive(Debug)]
pub struct Installed {
    /// Its whole path.
    pub path: PathBuf,
    /// What it holds, or why it cannot be used.
    pub info: Result<ModelInfo, ModelFileError>,
    /// The note beside it.
    pub record: Option<Record>,
}

impl Installed {
    /// Whether the file is still the one that was installed; `None` without a note.
    pub fn digest_matches(&self) -> Result<Option<bool>, ModelFileError> {
        let Some(record) = &self.record else { return Ok(None) };
        Ok(Some(digest_of(&self.path)? == record.sha256))
    }

    /// Name within the folder.
    pub fn file_name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

impl ModelsFolder {
    /// Names a folder, which need not exist.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where a model of this name lies or would lie.
    pub fn path_of(&self, name: &str, weights: Weights) -> PathBuf {
        self.path.join(file_name(name, weights))
    }

    /// All model files, usable or not, by name.
    pub fn list(&self) -> Result<Vec<Installed>, ModelFileError> {
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|error| ModelFileError::io(&self.path, error))?,
        };
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| ModelFileError::io(&self.path, error))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if !name.starts_with('.') && name.ends_with(SUFFIX) {
                paths.push(path);
            }
        }
        paths.sort();
        Ok(paths.into_iter().map(describe).collect())
    }

    /// The model of this name, if it is there, can be used and is what was installed.
    pub(super) fn intact(&self, name: &str, weights: Weights) -> Option<Installed> {
        let installed = describe(self.path_of(name, weights));
        let usable = installed.info.is_ok() && matches!(installed.digest_matches(), Ok(Some(true)));
        usable.then_some(installed)
    }

    /// Waits until no other process writes to the folder, then removes what killed ones
    /// left. `waiting` is called once if there is someone to wait for.
    pub(super) fn lock(&self, waiting: impl FnOnce()) -> Result<LockedFolder<'_>, ModelFileError> {
        let at = |error| ModelFileError::io(&self.path, error);
        fs::create_dir_all(&self.path).map_err(at)?;
        let lock = File::create(self.path.join(LOCK)).map_err(at)?;
        if lock.try_lock().is_err() {
            waiting();
            lock.lock().map_err(at)?;
        }
        let locked = LockedFolder { folder: self, _lock: lock };
        locked.remove_unfinished()?;
        Ok(locked)
    }
}

fn describe(path: PathBuf) -> Installed {
    let record = record::read(&path);
    Installed { info: check(&path), record, path }
}

/// A folder that only this process writes to.
pub(super) struct LockedFolder<'a> {
    folder: &'a ModelsFolder,
    _lock: File,
}

impl LockedFolder<'_> {
    /// A place for unfinished work, on the same disk, removed with the value.
    pub fn workplace(&self) -> Result<TempDir, ModelFileError> {
        let made = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(&self.folder.path);
        made.map_err(|error| ModelFileError::io(&self.folder.path, error))
    }

    /// Checks a finished file and gives it its name. A crash at any point leaves the old
    /// model or the new one.
    pub fn install(
        &self,
        written: Written,
        name: &str,
        source: String,
        alignment_heads: Vec<(u32, u32)>,
    ) -> Result<Installed, ModelFileError> {
        let weights = check(&written.path)?.weights;
        let target = self.folder.path_of(name, weights);
        let Written { path, sha256, size_bytes } = written;
        let note = Record { sha256, size_bytes, source, alignment_heads };
        let text = serde_json::to_vec_pretty(&note).expect("a note is plain data");
        let mut output = Output::create(&path.with_extension("note"))?;
        output.write(&text)?;
        let note = output.finish()?;
        rename(&note.path, &record::path_for(&target))?;
        rename(&path, &target)?;
        let folder = File::open(&self.folder.path).and_then(|folder| folder.sync_all());
        folder.map_err(|error| ModelFileError::io(&self.folder.path, error))?;
        Ok(describe(target))
    }

    fn remove_unfinished(&self) -> Result<(), ModelFileError> {
        let at = |error| ModelFileError::io(&self.folder.path, error);
        for entry in fs::read_dir(&self.folder.path).map_err(at)? {
            let entry = entry.map_err(at)?;
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                fs::remove_dir_all(entry.path()).map_err(at)?;
            }
        }
        Ok(())
    }
}

fn rename(from: &Path, to: &Path) -> Result<(), ModelFileError> {
    fs::rename(from, to).map_err(|error| ModelFileError::io(to, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_leave_the_folder_are_refused() {
        for good in ["base", "tiny.en", "large-v3-turbo", "my_model.2"] {
            assert!(validate_name(good).is_ok(), "{good}");
        }
        for bad in ["", "../base", ".hidden", "a/b", "Base", "ü", &"x".repeat(65)] {
            assert!(validate_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn lock_removes_what_a_killed_process_left() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let left = folder.path().join(".unfinished-abc");
        fs::create_dir(&left).expect("made");
        fs::write(left.join("half"), "half").expect("written");
        fs::write(folder.path().join("ggml-mine.bin"), "mine").expect("written");
        let models = ModelsFolder::new(folder.path().to_owned());
        let locked = models.lock(|| panic!("nobody holds the lock")).expect("locked");
        assert!(!left.exists());
        assert!(folder.path().join("ggml-mine.bin").exists());
        let workplace = locked.workplace().expect("made").path().to_owned();
        assert!(!workplace.exists(), "removed with the value");
    }
}
