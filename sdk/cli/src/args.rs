//! The command line. No behaviour here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Make, build, check and try add-ons for tympan.
#[derive(Debug, Parser)]
#[command(name = "tympan-addon", version)]
pub struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a crate with a small add-on and a test in it
    New(NewArgs),
    /// Build crates into components
    Build(BuildArgs),
    /// Say what a component is and what it asks for
    Check(CheckArgs),
    /// Run a component on a transcript, in the runtime of the service
    Test(TestArgs),
}

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Folder and crate to make, such as `call-report`; the add-on is then `call_report`
    pub name: PathBuf,
    /// Folder of the SDK: a checkout of tympan, or the crate in it [default: the checkout that
    /// this program was built in]
    #[arg(long, value_name = "DIR")]
    pub sdk: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct BuildArgs {
    /// Folders of the crates
    #[arg(default_value = ".", value_name = "DIR")]
    pub dirs: Vec<PathBuf>,
    /// File to write; for one crate
    #[arg(short, long, value_name = "FILE", conflicts_with = "out_dir")]
    pub output: Option<PathBuf>,
    /// Folder to write `<crate>.wasm` to [default: `addons` in cargo's target folder]
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
    /// Where compiled dependencies and the standard library are kept; share it between crates
    /// [default: `wasm` in cargo's target folder]
    #[arg(long, value_name = "DIR")]
    pub target_dir: Option<PathBuf>,
    /// Which compiler to use [default: TYMPAN_WASM_TOOLCHAIN, else auto]
    #[arg(long, value_enum)]
    pub toolchain: Option<ToolchainChoice>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolchainChoice {
    /// rustup's where it has or can add the target, else Debian's
    Auto,
    /// rustup's with the target wasm32-unknown-unknown
    Rustup,
    /// Debian's packages; the standard library is built from source
    Debian,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The component
    pub file: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// The component
    pub file: PathBuf,
    /// What the API returned: a job, a result or a transcription, JSON
    #[arg(long, value_name = "FILE")]
    pub transcript: PathBuf,
    /// The config object: JSON, or @FILE
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub config: String,
    /// Kind of job
    #[arg(long, default_value = "pre-recorded", value_parser = ["pre-recorded", "post-processing"])]
    pub mode: String,
    /// Seconds that the call may take [default: the service's]
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,
    /// Memory that the call may use, MiB, at most 512 [default: the service's]
    #[arg(long, value_name = "MIB")]
    pub memory: Option<usize>,
    /// Print one JSON object instead of sections
    #[arg(long)]
    pub json: bool,
}
