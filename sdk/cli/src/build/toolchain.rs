//! Finds a Rust compiler for WebAssembly: rustup's, or Debian's packages.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::{TARGET, output_of};
use crate::args::ToolchainChoice;

/// Debian's packages with a compiler for WebAssembly and the standard library's source.
const DEBIAN_PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld-19"];
/// How long rustup may try to download the target before the other way is taken.
const ADD_TARGET_LIMIT: Duration = Duration::from_secs(60);

/// A compiler for WebAssembly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Toolchain {
    /// rustup's cargo, with the target's standard library installed.
    Rustup,
    /// Debian's, which builds the standard library from source.
    Debian { cargo: PathBuf, rustc: PathBuf, linker: PathBuf },
}

impl fmt::Display for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rustup => write!(f, "rustup's cargo"),
            Self::Debian { cargo, .. } => write!(f, "Debian's {}", cargo.display()),
        }
    }
}

impl Toolchain {
    /// A cargo command that builds for WebAssembly; its arguments start with the subcommand.
    pub fn cargo(&self) -> Command {
        match self {
            Self::Rustup => Command::new("cargo"),
            Self::Debian { cargo, rustc, linker } => {
                let mut command = Command::new(cargo);
                command
                    .env("RUSTC", rustc)
                    .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker)
                    // Building the standard library is a nightly feature of a stable compiler.
                    .env("RUSTC_BOOTSTRAP", "1")
                    .args(["-Z", "build-std=std,panic_abort"]);
                command
            }
        }
    }
}

/// The compiler that the author asked for, or the first that is there. `dir` is the crate's
/// folder: a rustup override there counts.
pub(super) fn choose(choice: ToolchainChoice, dir: &Path) -> anyhow::Result<Toolchain> {
    match choice {
        ToolchainChoice::Rustup => rustup(dir),
        ToolchainChoice::Debian => debian(),
        ToolchainChoice::Auto => rustup(dir).or_else(|rustup_error| {
            debian().map_err(|debian_error| {
                anyhow::anyhow!("no Rust compiler for {TARGET}: {rustup_error:#}; {debian_error:#}")
            })
        }),
    }
}

fn rustup(dir: &Path) -> anyhow::Result<Toolchain> {
    let mut list = Command::new("rustup");
    list.args(["target", "list", "--installed"]).current_dir(dir);
    let Some(installed) = output_of(&mut list) else {
        bail!("rustup is not installed (https://rustup.rs)");
    };
    if installed.lines().any(|line| line.trim() == TARGET) {
        return Ok(Toolchain::Rustup);
    }
    eprintln!("adding the target {TARGET} with rustup");
    if add_target(dir)? {
        return Ok(Toolchain::Rustup);
    }
    bail!("rustup could not add the target: run `rustup target add {TARGET}` with a network")
}

/// Whether rustup could add the target within the limit.
fn add_target(dir: &Path) -> anyhow::Result<bool> {
    let mut rustup = Command::new("rustup")
        .args(["target", "add", TARGET])
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot run rustup")?;
    let started = Instant::now();
    while started.elapsed() < ADD_TARGET_LIMIT {
        if let Some(status) = rustup.try_wait()? {
            return Ok(status.success());
        }
        sleep(Duration::from_millis(100));
    }
    rustup.kill()?;
    rustup.wait()?;
    Ok(false)
}

/// rustup's programs come first on most paths, so the package manager says where Debian's are.
fn debian() -> anyhow::Result<Toolchain> {
    let install = || format!("apt-get install --no-remove {}", DEBIAN_PACKAGES.join(" "));
    let mut files = Vec::new();
    for package in DEBIAN_PACKAGES {
        let Some(listing) = output_of(Command::new("dpkg").args(["-L", package])) else {
            bail!("Debian's package {package} is not installed: run `{}` as root", install());
        };
        files.push(listing);
    }
    let program = |listing: &str, name: &str| {
        find_program(listing, name)
            .with_context(|| format!("Debian's packages hold no {name}: run `{}` as root", install()))
    };
    Ok(Toolchain::Debian {
        rustc: program(&files[0], "rustc")?,
        cargo: program(&files[1], "cargo")?,
        linker: program(&files[3], "wasm-ld-19")?,
    })
}

/// The file of that name in `/usr/bin`, from a package's list of files.
fn find_program(listing: &str, name: &str) -> Option<PathBuf> {
    listing
        .lines()
        .map(Path::new)
        .find(|path| path.ends_with(Path::new("bin").join(name)))
        .map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_a_packages_list_of_files() {
        let listing =
            "/.\n/usr/share/cargo\n/usr/bin/cargo-fmt\n/usr/bin/cargo\n/usr/share/cargo/bin/cargo\n";
        assert_eq!(find_program(listing, "cargo"), Some(PathBuf::from("/usr/bin/cargo")));
        assert_eq!(find_program(listing, "rustc"), None);
    }

    #[test]
    fn debians_cargo_is_told_its_compiler_and_linker() {
        let toolchain = Toolchain::Debian {
            cargo: PathBuf::from("/d/cargo"),
            rustc: PathBuf::from("/d/rustc"),
            linker: PathBuf::from("/d/wasm-ld-19"),
        };
        let command = toolchain.cargo();
        let env: Vec<_> = command.get_envs().collect();
        assert!(env.contains(&("RUSTC".as_ref(), Some("/d/rustc".as_ref()))));
        assert!(env.contains(&(
            "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER".as_ref(),
            Some("/d/wasm-ld-19".as_ref())
        )));
        assert_eq!(command.get_program(), "/d/cargo");
    }
}
