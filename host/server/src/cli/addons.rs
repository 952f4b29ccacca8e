//! `tympan addons`: what is installed, what a file says about itself, compiling ahead.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Subcommand;
use tympan_runtime::{Policy, Runtime, RuntimeSettings};

use super::output;
use crate::addons::AddonSet;
use crate::app;
use crate::config::Config;

/// What to do with add-ons.
#[derive(Debug, Subcommand)]
pub enum AddonsCommand {
    /// Show the add-ons in the order in which they run, and the files that are refused
    List,
    /// Show what a component file says about itself; nothing is installed
    Inspect {
        /// The component
        file: PathBuf,
    },
    /// Compile all add-ons now, so that the first start is fast
    Compile,
}

/// Runs one of the commands.
///
/// # Errors
/// `inspect`: the file is no add-on for this host. `compile`: a file was refused.
pub async fn run(command: AddonsCommand, config: &Config) -> anyhow::Result<()> {
    match command {
        AddonsCommand::List => list(&app::open_library(config).await?.current()),
        AddonsCommand::Inspect { file } => inspect(&file).await,
        AddonsCommand::Compile => {
            let set = app::open_library(config).await?.current();
            output::line(format_args!("compiled add-ons: {}", set.entries().len()))?;
            print_refused(&set)?;
            anyhow::ensure!(set.refused().is_empty(), "refused files: {}", set.refused().len());
            Ok(())
        }
    }
}

fn list(set: &AddonSet) -> anyhow::Result<()> {
    output::line(format_args!(
        "{:<3} {:<24} {:<10} {:<11} {:<14} FILE",
        "#", "NAME", "VERSION", "SLOT", "DIGEST"
    ))?;
    for (entry, place) in set.entries().iter().zip(1..) {
        let descriptor = entry.addon.descriptor();
        let digest = entry.addon.digest().get(..12).unwrap_or_default();
        let slot = format!("{:?}", descriptor.slot).to_lowercase();
        let (name, version, file) = (&descriptor.name, &descriptor.version, output::path(&entry.file));
        output::line(format_args!("{place:<3} {name:<24} {version:<10} {slot:<11} {digest:<14} {file}"))?;
    }
    print_refused(set)
}

fn print_refused(set: &AddonSet) -> anyhow::Result<()> {
    for refusal in set.refused() {
        output::line(format_args!("refused: {}: {}", output::path(&refusal.file), refusal.reason))?;
    }
    Ok(())
}

async fn inspect(file: &Path) -> anyhow::Result<()> {
    let bytes = Runtime::read(file).await.with_context(|| format!("cannot read {}", file.display()))?;
    let inspection = Runtime::inspect(&bytes)?;
    output::line(format_args!("contract  {}", inspection.contract_version))?;
    output::line(format_args!("sha256    {}", inspection.sha256))?;
    output::line(format_args!("size      {} bytes", inspection.size_bytes))?;
    output::line(format_args!("imports   {}", inspection.imports.join(", ")))?;
    output::line(format_args!("exports   {}", inspection.exports.join(", ")))?;
    let runtime = Runtime::new(RuntimeSettings::default())?;
    let addon = runtime.load_bytes(bytes, &Policy::default()).await?;
    output::line(format_args!("{}", serde_json::to_string_pretty(addon.descriptor())?))?;
    Ok(())
}
