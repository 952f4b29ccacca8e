//! For add-on authors: make a crate, build its component, look at it, try it.
//!
//! Light on purpose: it knows the SDK and the runtime, and needs neither Whisper nor a
//! database.

mod args;
mod build;
mod check;
mod new;
mod runtime;
mod schema;
mod trial;

use std::process::ExitCode;

pub use args::Cli;
use args::Command;

/// Does what the command line says.
///
/// # Errors
/// A sentence for the author, with what to do.
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::New(args) => new::run(&args)?,
        Command::Build(args) => build::run(&args)?,
        Command::Check(args) => check::run(&args)?,
        Command::Test(args) => return trial::run(&args),
    }
    Ok(ExitCode::SUCCESS)
}
