//! The commands of the binary. They read settings and files and print; what they do is in
//! the modules they call.

pub mod addons;
pub mod keys;
pub mod models;
mod open_files;
mod output;
mod progress;
mod running;
pub mod serve;
mod signals;
pub mod transcribe;

use clap::{Parser, Subcommand};

use crate::model::cause::chain;

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
    /// Create, show and revoke API keys
    #[command(subcommand)]
    Keys(keys::KeysCommand),
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
        Command::Keys(command) => keys::run(command, &config).await,
        Command::CheckConfig => {
            crate::telemetry::check(&config.log)?;
            Ok(output::text(crate::config::show(&config))?)
        }
    }
}

/// Whether a command ended because the reader of its output went away, as `head` does.
pub fn nobody_listens(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<std::io::Error>();
    cause.is_some_and(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Says on standard error why a command ended.
pub fn complain(error: &anyhow::Error) {
    output::note(format_args!("error: {}", sentence(error)));
}

/// The error and its causes in one line.
fn sentence(error: &anyhow::Error) -> String {
    chain(error.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_is_told_once() {
        let io = || anyhow::Error::from(std::io::Error::other("disk on fire"));
        assert_eq!(sentence(&io().context("cannot read x")), "cannot read x: disk on fire");
        assert_eq!(sentence(&io().context("x: disk on fire").context("no")), "no: x: disk on fire");
    }
}
