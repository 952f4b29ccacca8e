//! `tympan-addon new`: a crate that builds, tests and stands alone.

mod names;
mod sdk_dir;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use crate::args::NewArgs;
use names::Names;

/// Files of a new crate: where each goes, and its template.
const FILES: [(&str, &str); 6] = [
    ("Cargo.toml", include_str!("template/Cargo.toml.txt")),
    ("src/lib.rs", include_str!("template/lib.rs.txt")),
    ("transcript.json", include_str!("template/transcript.json")),
    ("config.json", include_str!("template/config.json")),
    ("README.md", include_str!("template/README.md")),
    (".gitignore", "/target\n"),
];

pub(crate) fn run(args: &NewArgs) -> anyhow::Result<()> {
    let names = Names::of(&args.name)?;
    let sdk = sdk_dir::find(args.sdk.as_deref())?;
    ensure!(!args.name.exists(), "{} exists already: give another name", args.name.display());
    for (path, template) in FILES {
        write(&args.name.join(path), &names.fill(template, &sdk))?;
    }
    lock_dependencies(&args.name, &sdk)?;
    println!("made {}", args.name.display());
    println!("next: cd {} && cargo test && tympan-addon build", args.name.display());
    Ok(())
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Starts from the versions that the SDK itself is tested with; cargo drops what is not needed.
fn lock_dependencies(dir: &Path, sdk: &Path) -> anyhow::Result<()> {
    if let Some(lock) = lock_file_above(sdk) {
        fs::copy(&lock, dir.join("Cargo.lock")).with_context(|| format!("cannot copy {}", lock.display()))?;
    }
    let status = Command::new("cargo")
        .args(["metadata", "--quiet", "--format-version", "1"])
        .current_dir(dir)
        .stdout(Stdio::null())
        .status()
        .context("cannot run cargo: install Rust from https://rustup.rs")?;
    ensure!(status.success(), "cargo could not resolve the dependencies of {}", dir.display());
    Ok(())
}

fn lock_file_above(sdk: &Path) -> Option<PathBuf> {
    sdk.ancestors().map(|dir| dir.join("Cargo.lock")).find(|path| path.is_file())
}
