//! The commands of the binary. They read settings and files and print; what they do is in
//! the modules they call.

pub mod addons;
pub mod models;
mod progress;
pub mod serve;
pub mod transcribe;

use clap::{Parser, Subcommand};

/// A self-hosted speech transcription service.
#[derive(Debug, Parser)]
#[command(name = "tympan", version)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the service
    Serve,
    /// Transcribe one file and print the result
    Transcribe(transcribe::TranscribeArguments),
    /// Show, inspect and compile add-ons
    #[command(subcommand)]
    Addons(addons::AddonsCommand),
    /// Show, fetch and import model files
    #[command(subcommand)]
    Models(models::ModelsCommand),
    /// Print the configuration as it is in force, secrets hidden
    CheckConfig,
}

/// Runs the command.
///
/// # Errors
/// Whatever the command says.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let config = crate::config::load()?;
    match arguments.command {
        Command::Serve => serve::run(config).await,
        Command::Transcribe(arguments) => transcribe::run(arguments, &config).await,
        Command::Addons(command) => addons::run(command, &config).await,
        Command::Models(command) => models::run(command, &config).await,
        Command::CheckConfig => {
            print!("{}", crate::config::show(&config));
            Ok(())
        }
    }
}
