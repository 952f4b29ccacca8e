//! `tympan-addon build`: from crates to components.

mod component;
mod krate;
mod toolchain;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use clap::ValueEnum;

use crate::args::{BuildArgs, ToolchainChoice};
use crate::check;
use krate::Krate;
use toolchain::Toolchain;

/// What a plain `wasm32` compiler is called; it needs no system interface.
const TARGET: &str = "wasm32-unknown-unknown";
/// The profile in which add-ons are built.
const PROFILE: &str = "addon";

pub(crate) fn run(args: &BuildArgs) -> anyhow::Result<()> {
    if args.output.is_some() && args.dirs.len() > 1 {
        bail!("--output names one file: use --out-dir DIR for several crates");
    }
    let crates = args.dirs.iter().map(|dir| Krate::read(dir)).collect::<anyhow::Result<Vec<_>>>()?;
    let toolchain = toolchain::choose(choice(args.toolchain)?, &crates[0].dir)?;
    for krate in &crates {
        let target_dir = args.target_dir.clone().unwrap_or_else(|| krate.target_dir.join("wasm"));
        let module = compile(krate, &toolchain, &target_dir)?;
        let bytes = component::from_module(&module, &krate.name)?;
        let output = match (&args.output, &args.out_dir) {
            (Some(file), _) => file.clone(),
            (None, Some(dir)) => dir.join(krate.file_name()),
            (None, None) => krate.target_dir.join("addons").join(krate.file_name()),
        };
        let summary = check::one_line(&bytes)?;
        write_whole(&output, &bytes)?;
        println!("{}: {summary}", output.display());
    }
    Ok(())
}

/// The command line, then the environment, then `auto`.
fn choice(given: Option<ToolchainChoice>) -> anyhow::Result<ToolchainChoice> {
    if let Some(choice) = given {
        return Ok(choice);
    }
    match std::env::var("TYMPAN_WASM_TOOLCHAIN") {
        Ok(text) if !text.is_empty() => ToolchainChoice::from_str(&text, false)
            .map_err(|_| anyhow::anyhow!("TYMPAN_WASM_TOOLCHAIN is `{text}`: use auto, rustup or debian")),
        _ => Ok(ToolchainChoice::Auto),
    }
}

/// Runs cargo; gives the path of the core module.
fn compile(krate: &Krate, toolchain: &Toolchain, target_dir: &Path) -> anyhow::Result<PathBuf> {
    eprintln!("building {} with {toolchain}", krate.name);
    let target_dir = std::path::absolute(target_dir)?;
    let mut cargo = toolchain.cargo();
    cargo
        .arg("rustc")
        .args(["--lib", "--crate-type", "cdylib", "--target", TARGET, "--profile", PROFILE])
        // The profile need not be in the manifest, and a panic must be a trap.
        .args(["--config", r#"profile.addon.inherits="release""#])
        .args(["--config", r#"profile.addon.panic="abort""#])
        .arg("--manifest-path")
        .arg(krate.dir.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target_dir)
        // Flags for the author's own machine make no sense for the sandbox.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_BUILD_TARGET")
        .stdin(Stdio::null());
    let status = cargo.status().with_context(|| format!("cannot run {toolchain}"))?;
    ensure!(status.success(), "cargo could not build {}: see above", krate.name);
    Ok(target_dir.join(TARGET).join(PROFILE).join(krate.file_name()))
}

/// Through a temporary file, so that a server that reads the folder meets no half component.
fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let temporary = path.with_extension("wasm.part");
    fs::write(&temporary, bytes)
        .and_then(|()| fs::rename(&temporary, path))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// A program's standard output, when it could be run and ended well.
fn output_of(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
