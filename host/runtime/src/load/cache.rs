//! Compiled components and their descriptions on disk, by digest, version of the
//! compiler and settings. Only a cache: whatever cannot be read is made again, whatever
//! cannot be written is not kept. The `.wasm` file remains the truth.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use wasmtime::Engine;
use wasmtime::component::Component;

use crate::data::descriptor::RawDescriptor;
use crate::engine;

/// A folder with compiled components.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
    fingerprint: String,
}

impl Cache {
    /// Opens or makes the folder. Refuses one that other users can write to, because
    /// what lies in it is run as native code.
    pub fn open(folder: &Path, engine: &Engine) -> io::Result<Cache> {
        make_private(folder)?;
        Ok(Cache { folder: folder.to_owned(), fingerprint: engine::fingerprint(engine) })
    }

    /// The compiled form of the component with this digest.
    pub fn component(&self, engine: &Engine, digest: &str) -> Option<Component> {
        let path = self.path(digest, "cwasm");
        if !path.exists() {
            return None;
        }
        // Sound because the folder is ours alone and files in it are complete.
        #[allow(unsafe_code)]
        let loaded = unsafe { Component::deserialize_file(engine, &path) };
        loaded.inspect_err(|error| warn("cannot read a compiled add-on, compiling it again", error)).ok()
    }

    /// Keeps the compiled form of a component.
    pub fn keep_component(&self, digest: &str, component: &Component) {
        let kept = component
            .serialize()
            .map_err(|error| io::Error::other(error.to_string()))
            .and_then(|code| self.write(&self.path(digest, "cwasm"), &code));
        if let Err(error) = kept {
            warn("cannot keep a compiled add-on, it will be compiled again", error);
        }
    }

    /// What the component with this digest said about itself.
    pub fn description(&self, digest: &str) -> Option<RawDescriptor> {
        let text = fs::read(self.path(digest, "json")).ok()?;
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
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        fs::File::open(&self.folder)?.sync_all()
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
    fn damaged_files_are_as_good_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine::build(1).unwrap();
        let cache = Cache::open(folder.path(), &engine).unwrap();
        cache.write(&cache.path("d", "cwasm"), b"no code").unwrap();
        cache.write(&cache.path("d", "json"), b"{").unwrap();
        assert!(cache.component(&engine, "d").is_none());
        assert!(cache.description("d").is_none());
    }
}
