//! `pull`: a model by name, from the hub or from packages, installed whole or not at all.

use std::path::{Path, PathBuf};

use super::Report;
use super::catalog::CatalogEntry;
use super::convert::{from_ctranslate2, from_ggml};
use super::error::ModelFileError;
use super::folder::{Installed, LockedFolder, ModelsFolder};
use super::output::Written;
use super::record::OriginalConfig;
use super::weights::Weights;
use super::{hub, packages};

/// Where models come from (`TYMPAN_MODEL_SOURCE`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The hub; packages where it does not deliver.
    Auto,
    /// The hub only.
    Hub,
    /// Packages only.
    Packages,
}

/// How to pull.
#[derive(Debug, Clone)]
pub struct PullOptions {
    pub source: Source,
    /// Address of the hub without the path; [`hub::PUBLIC_HUB`] or a mirror of it.
    pub hub_url: String,
    /// The Python that has pip, by name or path.
    pub python: PathBuf,
    pub weights: Weights,
}

/// What a pull did.
#[derive(Debug)]
pub struct Pulled {
    pub model: Installed,
    /// The model was there already, whole.
    pub was_installed: bool,
}

/// Makes sure that the model is installed.
pub async fn pull(
    folder: &ModelsFolder,
    entry: &CatalogEntry,
    options: &PullOptions,
    report: &dyn Report,
) -> Result<Pulled, ModelFileError> {
    let locked =
        folder.lock(|| report.note("another process is writing to the models folder; waiting for it"))?;
    if let Some(model) = folder.intact(entry.name, options.weights) {
        return Ok(Pulled { model, was_installed: true });
    }
    let model = match options.source {
        Source::Hub => from_hub(&locked, entry, options, report).await?,
        Source::Packages => from_packages(&locked, entry, options, report)?,
        Source::Auto => from_either(&locked, entry, options, report).await?,
    };
    Ok(Pulled { model, was_installed: false })
}

async fn from_either(
    locked: &LockedFolder<'_>,
    entry: &CatalogEntry,
    options: &PullOptions,
    report: &dyn Report,
) -> Result<Installed, ModelFileError> {
    let first = match from_hub(locked, entry, options, report).await {
        Ok(model) => return Ok(model),
        Err(error @ ModelFileError::DiskFull { .. }) => return Err(error),
        Err(error) if entry.packages.is_empty() => return Err(error),
        Err(error) => error,
    };
    report.note(&format!("{first}; taking packages instead"));
    from_packages(locked, entry, options, report)
        .map_err(|second| ModelFileError::AllSources { first: Box::new(first), second: Box::new(second) })
}

async fn from_hub(
    locked: &LockedFolder<'_>,
    entry: &CatalogEntry,
    options: &PullOptions,
    report: &dyn Report,
) -> Result<Installed, ModelFileError> {
    let wanted = options.weights;
    let file = entry.hub.iter().find(|file| file.weights == wanted);
    let Some(file) = file.or_else(|| entry.hub.iter().find(|file| file.weights == Weights::F16)) else {
        return Err(not_carried(entry, "the hub", "packages"));
    };
    let workplace = locked.workplace()?;
    let path = workplace.path().join("download.bin");
    let mut written = hub::download(&options.hub_url, entry.name, file, &path, report).await?;
    if file.weights != wanted {
        written = from_ggml(&path, &workplace.path().join("model.bin"), wanted, report)?;
    }
    locked.install(written, entry.name, "the hub".to_owned(), Vec::new())
}

fn from_packages(
    locked: &LockedFolder<'_>,
    entry: &CatalogEntry,
    options: &PullOptions,
    report: &dyn Report,
) -> Result<Installed, ModelFileError> {
    let mut failed: Option<ModelFileError> = None;
    for family in entry.packages {
        if let Some(error) = &failed {
            report.note(&format!("{error}; trying other packages with the same weights"));
        }
        let workplace = locked.workplace()?;
        let fetched = packages::fetch(family, &options.python, workplace.path(), report)
            .and_then(|()| convert_packages(entry, workplace.path(), options.weights, report));
        match fetched {
            Ok(written) => {
                let heads = OriginalConfig::read(workplace.path()).alignment_heads;
                let source = format!("packages ({})", family.parts[0].package);
                return locked.install(written, entry.name, source, heads);
            }
            Err(error @ ModelFileError::DiskFull { .. }) => return Err(error),
            Err(error) => failed = Some(error),
        }
    }
    Err(failed.unwrap_or_else(|| not_carried(entry, "packages", "hub")))
}

fn convert_packages(
    entry: &CatalogEntry,
    folder: &Path,
    weights: Weights,
    report: &dyn Report,
) -> Result<Written, ModelFileError> {
    let written = from_ctranslate2(folder, &folder.join("result.bin"), weights, report)?;
    match entry.result(weights) {
        Some(sha256) => written.expect(sha256, &format!("the converted model {}", entry.name)),
        None => Ok(written),
    }
}

fn not_carried(entry: &CatalogEntry, source_name: &'static str, other: &'static str) -> ModelFileError {
    ModelFileError::NotCarried { name: entry.name.to_owned(), source_name, other }
}
