//! `tympan models`: show, fetch and import model files.

use std::path::PathBuf;

use anyhow::ensure;
use clap::{Args, Subcommand};

use super::{output, progress};
use crate::config::{Config, ModelSource};
use crate::modelfile::{
    self, CATALOG, CatalogEntry, DEFAULT_MODEL, DEFAULT_WEIGHTS, Installed, ModelFileError, ModelInfo,
    ModelsFolder, PUBLIC_HUB, PullOptions, Source, Weights,
};

/// What to do with models.
#[derive(Debug, Subcommand)]
pub enum ModelsCommand {
    /// Show the installed models and those that can be pulled
    List,
    /// Fetch a model
    Pull(PullArguments),
    /// Take a faster-whisper folder or a ggml file that is already here
    Import(ImportArguments),
}

/// Arguments of `pull`.
#[derive(Debug, Args)]
pub struct PullArguments {
    /// Name of the model; `tympan models list` shows them
    #[arg(default_value = DEFAULT_MODEL)]
    name: String,
    /// How to store the weights
    #[arg(long, value_name = "f16|q8_0|q5_1", value_parser = parse_weights, default_value = DEFAULT_WEIGHTS.name())]
    quantize: Weights,
}

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// A folder with model.bin and vocabulary, or a ggml file
    source: PathBuf,
    /// Name under which it is installed [default: from the path]
    #[arg(long)]
    name: Option<String>,
    /// How to store the weights [default: q8_0 for a folder, unchanged for a file]
    #[arg(long, value_name = "f16|q8_0|q5_1", value_parser = parse_weights)]
    quantize: Option<Weights>,
}

/// Runs one of the commands.
///
/// # Errors
/// What cannot be fetched, imported or written. `list`: an installed model is damaged.
pub async fn run(command: ModelsCommand, config: &Config) -> anyhow::Result<()> {
    let folder = ModelsFolder::new(config.paths.models_dir.clone());
    match command {
        ModelsCommand::List => list(&folder, config),
        ModelsCommand::Pull(arguments) => pull(&folder, &arguments, config).await,
        ModelsCommand::Import(arguments) => import(&folder, &arguments),
    }
}

async fn pull(folder: &ModelsFolder, arguments: &PullArguments, config: &Config) -> anyhow::Result<()> {
    let name = &arguments.name;
    let entry =
        CatalogEntry::find(name).ok_or_else(|| ModelFileError::UnknownModel { name: name.clone() })?;
    let options = PullOptions {
        source: source(config.model_source),
        hub_url: config.model_hub_url.clone().unwrap_or_else(|| PUBLIC_HUB.to_owned()),
        python: PathBuf::from("python3"),
        weights: arguments.quantize,
    };
    let pulled = modelfile::pull(folder, entry, &options, progress::for_stderr().as_ref()).await?;
    let verb = if pulled.was_installed { "already installed" } else { "installed" };
    output::line(format_args!("{verb}: {}", pulled.model.path.display()))?;
    Ok(())
}

fn import(folder: &ModelsFolder, arguments: &ImportArguments) -> anyhow::Result<()> {
    let report = progress::for_stderr();
    let (source, name) = (arguments.source.as_path(), arguments.name.as_deref());
    let model = modelfile::import(folder, source, name, arguments.quantize, report.as_ref())?;
    output::line(format_args!("installed: {}", model.path.display()))?;
    Ok(())
}

fn list(folder: &ModelsFolder, config: &Config) -> anyhow::Result<()> {
    let installed = folder.list()?;
    output::line(format_args!("installed in {}:", folder.path().display()))?;
    if installed.is_empty() {
        output::line(format_args!("  none; `tympan models pull` fetches {DEFAULT_MODEL}"))?;
    }
    let mut damaged = 0;
    for model in &installed {
        let line = describe(model, config);
        damaged += usize::from(line.is_err());
        output::line(format_args!("  {}", line.unwrap_or_else(|line| line)))?;
    }
    output::line(format_args!("can be pulled (`tympan models pull NAME --quantize f16|q8_0|q5_1`):"))?;
    for entry in CATALOG {
        let sources = if entry.packages.is_empty() { "hub" } else { "hub, packages" };
        output::line(format_args!("  {:<15} {:<14} from {sources}", entry.name, entry.languages))?;
    }
    ensure!(
        damaged == 0,
        "damaged models: {damaged} of {}; pull or import what is damaged again",
        installed.len()
    );
    Ok(())
}

/// A line about a model; an error if it is damaged.
fn describe(model: &Installed, config: &Config) -> Result<String, String> {
    let name = model.file_name();
    let info = model.info.as_ref().map_err(|error| format!("{name}: {error}"))?;
    let path_of = |file| config.paths.models_dir.join(file);
    let users = config.models.iter().filter(|(_, used)| path_of(&used.file) == model.path);
    let users = users.map(|(user, _)| user.as_str()).collect::<Vec<_>>().join(", ");
    let users = if users.is_empty() { String::new() } else { format!(", used by {users}") };
    let info = describe_info(info);
    let source = model.record.as_ref().map_or("", |record| record.source.as_str());
    match model.digest_matches() {
        Ok(Some(true)) => Ok(format!("{name}: {info}, from {source}, digest intact{users}")),
        Ok(None) => Ok(format!("{name}: {info}, copied by hand, digest unknown{users}")),
        Ok(Some(false)) => Err(format!("{name}: {info}, CHANGED since it came from {source}{users}")),
        Err(error) => Err(format!("{name}: {error}{users}")),
    }
}

fn describe_info(info: &ModelInfo) -> String {
    let sizes = &info.architecture;
    let languages = match sizes.languages() {
        1 => "English".to_owned(),
        count => format!("{count} languages"),
    };
    format!(
        "{} MB, {}, {} + {} layers, {languages}",
        info.size_bytes / 1_000_000,
        info.weights.name(),
        sizes.audio_layers,
        sizes.text_layers,
    )
}

fn source(setting: ModelSource) -> Source {
    match setting {
        ModelSource::Auto => Source::Auto,
        ModelSource::Hub => Source::Hub,
        ModelSource::Packages => Source::Packages,
    }
}

fn parse_weights(text: &str) -> Result<Weights, String> {
    Weights::parse(text).ok_or_else(|| "use f16, q8_0 or q5_1".to_owned())
}
