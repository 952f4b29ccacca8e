//! What cargo knows about an author's crate.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use serde::Deserialize;

/// An author's crate.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Krate {
    /// Absolute folder of its manifest.
    pub dir: PathBuf,
    /// Name of its library, with underscores.
    pub name: String,
    /// Cargo's target folder for it.
    pub target_dir: PathBuf,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    target_directory: PathBuf,
}

#[derive(Deserialize)]
struct Package {
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

impl Krate {
    /// Asks cargo about the crate in this folder.
    pub fn read(dir: &Path) -> anyhow::Result<Self> {
        let Ok(dir) = dir.canonicalize() else {
            bail!("there is no folder {}", dir.display());
        };
        let manifest = dir.join("Cargo.toml");
        if !manifest.is_file() {
            bail!("{} holds no Cargo.toml: make a crate with `tympan-addon new NAME`", dir.display());
        }
        let output = Command::new("cargo")
            .args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"])
            .arg(&manifest)
            .output()
            .context("cannot run cargo: install Rust from https://rustup.rs")?;
        if !output.status.success() {
            bail!("cargo cannot read the crate: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        let metadata: Metadata =
            serde_json::from_slice(&output.stdout).context("cargo's metadata has an unknown shape")?;
        Self::from_metadata(metadata, dir, &manifest)
    }

    fn from_metadata(metadata: Metadata, dir: PathBuf, manifest: &Path) -> anyhow::Result<Self> {
        let package = metadata.packages.into_iter().find(|package| package.manifest_path == manifest);
        let Some(package) = package else {
            bail!("{} is a workspace: give the folder of one crate in it", dir.display());
        };
        let is_library = |t: &Target| t.kind.iter().any(|k| ["lib", "rlib", "cdylib"].contains(&k.as_str()));
        let Some(library) = package.targets.into_iter().find(is_library) else {
            bail!("{} has no library: put the add-on into src/lib.rs", dir.display());
        };
        Ok(Self { dir, name: library.name.replace('-', "_"), target_dir: metadata.target_directory })
    }

    /// File name of its module and of its component.
    pub fn file_name(&self) -> String {
        format!("{}.wasm", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_of_this_very_crate_is_found() {
        let krate = Krate::read(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        assert_eq!(krate.file_name(), "tympan_addon.wasm");
    }

    #[test]
    fn each_wrong_folder_has_its_own_sentence() {
        let error = |dir: &Path| Krate::read(dir).unwrap_err().to_string();
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(error(&here.join("nowhere")).contains("there is no folder"));
        assert!(error(&here.join("src")).contains("holds no Cargo.toml"));
        assert!(error(&here.join("../..")).contains("is a workspace"));
    }
}
