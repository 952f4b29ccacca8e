//! The binary: reads the command line and runs one command.

use clap::Parser;
use tympan::cli;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    cli::run(cli::Arguments::parse()).await
}
