//! Compiled components and their descriptions on disk, by digest, version of the
//! compiler and settings. Only a cache: whatever cannot be read is made again, whatever
//! cannot be written is not kept. The `.wasm` file remains the truth.
//!
//! Several processes may share a folder, also of different versions: files appear whole,
//! and one that is removed stays readable for whoever has it open.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::data::descriptor::RawDescriptor;
use crate::engine;

/// Files that nobody has used for so long are removed: of add-ons that are gone, of other
/// versions of the compiler, of writes that a crash cut off.
const LIFETIME: Duration = Duration::from_secs(30 * 24 * 3600);

/// Uses within so long count as one, so that a read seldom writes to the disk.
const USE_INTERVAL: Duration = Duration::from_secs(24 * 3600);

/// How files begin that are being written.
const PARTIAL: &str = "compiled-";

/// A folder with compiled components.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
    fingerprint: String,
}

impl Cache {
    /// Opens or makes the folder and removes what has not been used for long. Refuses a
    /// folder that other users can write to, because what lies in it is run as native code.
    pub fn open(folder: &Path, engine: &Engine) -> io::Result<Cache> {
        make_private(folder)?;
        if let Err(error) = sweep(folder, SystemTime::now()) {
            warn("cannot remove old compiled add-ons", error);
        }
        Ok(Cache { folder: folder.to_owned(), fingerprint: engine::fingerprint(engine) })
    }

    /// The compiled form of the component with this digest.
    pub fn component(&self, engine: &Engine, digest: &str) -> Option<Component> {
        let (path, sum) = (self.path(digest, "cwasm"), self.path(digest, "sha256"));
        note_use(&path)?;
        note_use(&sum);
        let expected = fs::read(sum).ok()?;
        if fs::read(&path).ok().map(|code| checksum(&code)) != Some(expected) {
            tracing::warn!(file = %path.display(), "a compiled add-on is damaged, compiling it again");
            return None;
        }
        // SAFETY: the folder is ours alone (`make_private`), the file is what we wrote there, and its
        // name says what it was compiled by.
        #[allow(unsafe_code)]
        let loaded = unsafe { Component::deserialize_file(engine, &path) };
        loaded.inspect_err(|error| warn("cannot read a compiled add-on, compiling it again", error)).ok()
    }

    /// Keeps the compiled form of a component.
    pub fn keep_component(&self, digest: &str, component: &Component) {
        let kept =
            component.serialize().map_err(|error| io::Error::other(error.to_string())).and_then(|code| {
                self.write(&self.path(digest, "sha256"), &checksum(&code))?;
                self.write(&self.path(digest, "cwasm"), &code)
            });
        if let Err(error) = kept {
            warn("cannot keep a compiled add-on, it will be compiled again", error);
        }
    }

    /// What the component with this digest said about itself.
    pub fn description(&self, digest: &str) -> Option<RawDescriptor> {
        let path = self.path(digest, "json");
        note_use(&path)?;
        let text = fs::read(path).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Keeps what a component said about itself.
    pub fn keep_description(&self, digest: &str, description: &RawDescriptor) {
        let kept = serde_json::to_vec(description)
            .map_err(io::Error::other)
            .and_then(|text| self.write(&self.path(digest, "json"), &text));
        if let Err(error) = kept {
            warn("cannot keep an add-on's description", error);
        }
    }

    fn path(&self, digest: &str, extension: &str) -> PathBuf {
        self.folder.join(format!("{digest}-{}.{extension}", self.fingerprint))
    }

    /// Complete or not at all, also after a power cut.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file =
            tempfile::Builder::new().prefix(PARTIAL).suffix(".partial").tempfile_in(&self.folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        fs::File::open(&self.folder)?.sync_all()
    }
}

/// Machine code that a failing disk has changed would end the process, or worse.
fn checksum(code: &[u8]) -> Vec<u8> {
    hex::encode(Sha256::digest(code)).into_bytes()
}

/// Sets the time of last use, which is the time of change; `None` when there is no such file.
fn note_use(path: &Path) -> Option<()> {
    let used = fs::metadata(path).ok()?.modified().ok()?;
    if used.elapsed().is_ok_and(|age| age > USE_INTERVAL) {
        let noted = fs::File::options().write(true).open(path);
        if let Err(error) = noted.and_then(|file| file.set_modified(SystemTime::now())) {
            warn("cannot note the use of a compiled add-on, it may be compiled again", error);
        }
    }
    Some(())
}

/// Removes files of ours that were last used long before `now`. Another process may do the
/// same at the same time.
fn sweep(folder: &Path, now: SystemTime) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Ok(used) = fs::metadata(&path).and_then(|file| file.modified()) else { continue };
        let is_old = now.duration_since(used).is_ok_and(|age| age > LIFETIME);
        if is_old && is_ours(&path) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

/// The folder may be one that the operator named, so that other files may lie in it.
fn is_ours(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match name.rsplit_once('.') {
        Some((stem, "partial")) => stem.starts_with(PARTIAL),
        Some((stem, "cwasm" | "sha256" | "json")) => stem
            .split_once('-')
            .is_some_and(|(digest, _)| digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit())),
        _ => false,
    }
}

#[cfg(unix)]
fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    if fs::metadata(folder)?.permissions().mode() & 0o022 != 0 {
        return Err(io::Error::other("others can write to this folder; run `chmod go-w` on it"));
    }
    Ok(())
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

fn warn(message: &str, error: impl std::fmt::Display) {
    tracing::warn!(error = %error, "{message}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(folder: &Path) -> io::Result<Cache> {
        Cache::open(folder, &engine::build(1).unwrap())
    }

    #[test]
    fn makes_its_folder_for_itself() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("a/b");
        let cache = open(&folder).unwrap();
        cache.write(&folder.join("x"), b"1").unwrap();
        assert_eq!(fs::read(folder.join("x")).unwrap(), b"1");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn refuses_a_folder_of_everybody() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(open(folder.path()).unwrap_err().to_string().contains("chmod"));
    }

    #[test]
    fn what_nobody_uses_is_swept_and_what_is_used_stays() {
        let folder = tempfile::tempdir().unwrap();
        let cache = open(folder.path()).unwrap();
        let digest = "d".repeat(64);
        let names = [&format!("{digest}-1.cwasm"), "compiled-x.partial", "notes.txt", "data.json"];
        let (used, unused) = (cache.path(&digest, "json"), cache.path(&digest, "cwasm"));
        let ago = |days: u64| SystemTime::now() - Duration::from_secs(days * 24 * 3600);
        for path in names.iter().map(|name| folder.path().join(name)).chain([used.clone(), unused.clone()]) {
            fs::File::create(&path).unwrap().set_modified(ago(29)).unwrap();
        }
        cache.description(&digest);
        sweep(folder.path(), SystemTime::now()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 6);
        let in_two_days = SystemTime::now() + Duration::from_secs(2 * 24 * 3600);
        sweep(folder.path(), in_two_days).unwrap();
        let mut left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()).collect();
        left.sort();
        let mut expected = [used, folder.path().join("notes.txt"), folder.path().join("data.json")];
        expected.sort();
        assert_eq!(left, expected);
    }

    #[test]
    fn damaged_files_are_as_good_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine::build(1).unwrap();
        let cache = Cache::open(folder.path(), &engine).unwrap();
        cache.write(&cache.path("d", "json"), b"{").unwrap();
        assert!(cache.description("d").is_none());
        let component = Component::new(&engine, b"\0asm\x0d\0\x01\0").unwrap();
        cache.keep_component("d", &component);
        assert!(cache.component(&engine, "d").is_some());
        let path = cache.path("d", "cwasm");
        let whole = fs::read(&path).unwrap();
        let mut flipped = whole.clone();
        *flipped.last_mut().unwrap() ^= 1;
        for damaged in [&flipped[..], &whole[..whole.len() / 2], b"no code"] {
            fs::write(&path, damaged).unwrap();
            assert!(cache.component(&engine, "d").is_none());
        }
        cache.keep_component("d", &component);
        assert!(cache.component(&engine, "d").is_some());
        fs::remove_file(cache.path("d", "sha256")).unwrap();
        assert!(cache.component(&engine, "d").is_none());
    }
}
