//! `tympan-addon new`: a crate that builds, tests and stands alone.

mod sdk_dir;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

use crate::args::NewArgs;

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

/// The new crate's name in the spellings that the templates need.
#[derive(Debug, PartialEq, Eq)]
struct Names {
    /// `call-report`
    krate: String,
    /// `call_report`
    addon: String,
    /// `CallReport`
    type_name: String,
}

impl Names {
    fn of(dir: &Path) -> anyhow::Result<Self> {
        let last = dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let addon = last.replace('-', "_");
        let mut chars = addon.chars();
        let starts_well = chars.next().is_some_and(|c| c.is_ascii_lowercase());
        let goes_on_well = chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !starts_well || !goes_on_well || !(2..=64).contains(&addon.len()) {
            bail!(
                "`{last}` cannot name an add-on: use 2 to 64 of a-z, 0-9, `-` and `_`, starting with a letter"
            );
        }
        let type_name = addon.split('_').map(capitalised).collect();
        Ok(Self { krate: last.to_owned(), addon, type_name })
    }

    fn fill(&self, template: &str, sdk: &Path) -> String {
        template
            .replace("{{crate}}", &self.krate)
            .replace("{{addon}}", &self.addon)
            .replace("{{type}}", &self.type_name)
            .replace("{{sdk}}", &toml::Value::from(sdk.to_string_lossy().as_ref()).to_string())
    }
}

fn capitalised(part: &str) -> String {
    let mut chars = part.chars();
    chars.next().map(|first| first.to_ascii_uppercase().to_string() + chars.as_str()).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_spelled_three_ways() {
        let names = Names::of(Path::new("some/where/call-report2")).unwrap();
        assert_eq!(names.krate, "call-report2");
        assert_eq!(names.addon, "call_report2");
        assert_eq!(names.type_name, "CallReport2");
    }

    #[test]
    fn names_that_the_host_would_refuse_are_refused() {
        for bad in ["", "a", "2calls", "Call", "ca ll", "käse", "..", &"a".repeat(65)] {
            assert!(Names::of(Path::new(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_path_is_a_valid_toml_string() {
        let names = Names::of(Path::new("ab")).unwrap();
        let filled = names.fill("path = {{sdk}}", Path::new("/a \"b\"/c"));
        let table: toml::Table = filled.parse().unwrap();
        assert_eq!(table["path"].as_str(), Some("/a \"b\"/c"));
    }
}
