//! The binary: reads the command line and runs one command.

use clap::Parser;
use tympan::cli::models::{self, ModelsSettings};
use tympan::cli::{Arguments, Command};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Command::Models(command) => models::run(command, &ModelsSettings::from_environment()?).await,
    }
}
