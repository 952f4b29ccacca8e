//! The binary: reads the command line and runs one command.

use std::process::ExitCode;

use clap::Parser;
use tokio::runtime::Runtime;
use tympan::{cli, telemetry};

fn main() -> ExitCode {
    telemetry::hide_panic_texts();
    let runtime = Runtime::new().expect("the system gives threads");
    let ended = runtime.block_on(cli::run(cli::Arguments::parse()));
    // What still runs on a thread, such as the compilation of an add-on, is nobody's any more.
    runtime.shutdown_background();
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if cli::nobody_listens(&error) {
                return ExitCode::SUCCESS;
            }
            cli::complain(&error);
            ExitCode::FAILURE
        }
    }
}
