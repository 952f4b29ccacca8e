//! The `tympan-addon` program: parses the command line, prints errors, sets the exit code.

use std::process::ExitCode;

use clap::Parser;
use tympan_addon::Cli;

fn main() -> ExitCode {
    match tympan_addon::run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
