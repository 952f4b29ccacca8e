//! The binary: reads the command line and runs one command.

use std::process::ExitCode;

use clap::Parser;
use tympan::{cli, telemetry};

#[tokio::main]
async fn main() -> ExitCode {
    telemetry::hide_panic_texts();
    match cli::run(cli::Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if cli::nobody_listens(&error) {
                return ExitCode::SUCCESS;
            }
            eprintln!("error: {}", cli::sentence(&error));
            ExitCode::FAILURE
        }
    }
}
