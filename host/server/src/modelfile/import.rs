//! `import`: a faster-whisper folder or a ggml file that the operator already has.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::Report;
use super::catalog::DEFAULT_WEIGHTS;
use super::check::check;
use super::convert::{from_ctranslate2, from_ggml};
use super::error::{Fault, ModelFileError};
use super::folder::{Installed, ModelsFolder, validate_name};
use super::output::{Output, Written};
use super::record::{self, OriginalConfig};
use super::weights::Weights;

/// Imports `source` under `name`. A folder becomes `weights` (by default
/// [`DEFAULT_WEIGHTS`]); a file keeps its form unless another is asked for.
pub fn import(
    folder: &ModelsFolder,
    source: &Path,
    name: Option<&str>,
    weights: Option<Weights>,
    report: &dyn Report,
) -> Result<Installed, ModelFileError> {
    let name = match (name, source.file_name()) {
        (Some(name), _) => name.to_owned(),
        (None, Some(_)) => name_of(source),
        // `.` says where it is and not what it is called.
        (None, None) => name_of(&source.canonicalize().map_err(|error| ModelFileError::io(source, error))?),
    };
    validate_name(&name)?;
    let is_folder = source.metadata().map_err(|error| ModelFileError::io(source, error))?.is_dir();
    if is_folder && !source.join("model.bin").is_file() {
        return Err(ModelFileError::fault(source, Fault::NoModelBin));
    }
    if !is_folder {
        // Refused before anything is made or waited for.
        check(source)?;
    }
    let locked =
        folder.lock(|| report.note("another process is writing to the models folder; waiting for it"))?;
    let workplace = locked.workplace()?;
    let target = workplace.path().join("model.bin");
    if is_folder {
        let written = from_ctranslate2(source, &target, weights.unwrap_or(DEFAULT_WEIGHTS), report)?;
        let heads = OriginalConfig::read(source).alignment_heads;
        return locked.install(written, &name, "a faster-whisper folder".to_owned(), heads);
    }
    let info = check(source)?;
    let written = match weights {
        Some(wanted) if wanted != info.weights => from_ggml(source, &target, wanted, report)?,
        _ => copy(source, &target, info.size_bytes, report)?,
    };
    let heads = record::read(source).map(|record| record.heads_for(&info)).unwrap_or_default();
    locked.install(written, &name, "a ggml file".to_owned(), heads)
}

fn copy(
    source: &Path,
    target: &Path,
    size_bytes: u64,
    report: &dyn Report,
) -> Result<Written, ModelFileError> {
    let at = |error| ModelFileError::io(source, error);
    let mut input = File::open(source).map_err(at)?;
    let mut output = Output::create(target)?;
    let mut buffer = vec![0; 1 << 20];
    report.begin("copying", Some(size_bytes));
    loop {
        let count = input.read(&mut buffer).map_err(at)?;
        if count == 0 {
            break;
        }
        output.write(&buffer[..count])?;
        report.advance(count as u64);
    }
    report.end();
    output.finish()
}

/// A name from a path: the cache of Python's hub client keeps models in
/// `models--OWNER--NAME/snapshots/REVISION`, others simply in `NAME`; files are called
/// `ggml-NAME-FORM.bin`.
fn name_of(source: &Path) -> String {
    let parts = source.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>();
    let cached = parts.iter().rev().find_map(|part| part.strip_prefix("models--")?.rsplit("--").next());
    let name = cached.map_or_else(|| own_name(source), str::to_owned).to_lowercase();
    let name = name.strip_prefix("ggml-").unwrap_or(&name);
    let name = name.strip_prefix("faster-whisper-").or(name.strip_prefix("faster-")).unwrap_or(name);
    let form = Weights::ALL.iter().find_map(|weights| name.strip_suffix(&format!("-{}", weights.name())));
    form.unwrap_or(name).to_owned()
}

/// `.bin` is not part of the name; other dots are (`tiny.en`).
fn own_name(source: &Path) -> String {
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(".bin").unwrap_or(&name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_paths() {
        for (path, name) in [
            ("/m/ggml-base-q8_0.bin", "base"),
            ("ggml-tiny.en.bin", "tiny.en"),
            ("/m/faster-whisper-small", "small"),
            ("/c/models--Systran--faster-whisper-large-v3/snapshots/0a1b", "large-v3"),
            ("/c/models--org--faster-distil-whisper-small.en/snapshots/0a", "distil-whisper-small.en"),
            ("My Model", "my model"),
        ] {
            assert_eq!(name_of(Path::new(path)), name, "{path}");
        }
    }
}
