//! The binary: reads the command line and runs one command.

use std::process::ExitCode;

use clap::Parser;
use tympan::cli;

#[tokio::main]
async fn main() -> ExitCode {
    match cli::run(cli::Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
