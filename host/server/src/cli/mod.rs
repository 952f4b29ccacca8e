//! The commands of the binary. They read settings and files and print; what they do is in
//! the modules they call.

pub mod models;
mod progress;

use clap::{Parser, Subcommand};

/// A self-hosted speech transcription service.
#[derive(Debug, Parser)]
#[command(name = "tympan", version)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show, fetch and import model files
    #[command(subcommand)]
    Models(models::ModelsCommand),
}
