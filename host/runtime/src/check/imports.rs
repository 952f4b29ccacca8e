//! Deny by default: every import must be one that this host gives to add-ons.

use super::shown;
use crate::contract;

/// Interfaces of the contract that need no grant.
const FREE_INTERFACES: [&str; 2] = ["runtime", "types"];

/// Packages of WASI 0.2 that are always there, with nothing behind them.
const WASI_PACKAGES: [&str; 6] = ["cli", "clocks", "filesystem", "io", "random", "sockets"];

/// An import that nobody may have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// A capability.
    #[error(
        "it imports `{import}`, but nobody can grant it: this host does not offer the capability `{capability}`"
    )]
    Capability {
        /// As in the file.
        import: String,
        /// Its short name.
        capability: String,
    },
    /// The contract, but another version of it.
    #[error("it imports `{0}`, but this host speaks version {supported} of the contract", supported = contract::SUPPORTED)]
    Version(String),
    /// WASI beyond the sandbox.
    #[error("it imports `{import}`, which add-ons do not get; {hint}")]
    Wasi {
        /// As in the file.
        import: String,
        /// How to build without it.
        hint: &'static str,
    },
    /// Something else.
    #[error("it imports `{0}`, which this host does not know")]
    Unknown(String),
}

/// Refuses the first import that an add-on may not have.
pub fn check(imports: &[String]) -> Result<(), ImportError> {
    imports.iter().try_for_each(|import| check_one(import))
}

fn check_one(import: &str) -> Result<(), ImportError> {
    if let Some(interface) = contract::interface(import) {
        if !contract::is_supported(interface.version) {
            return Err(ImportError::Version(shown(import)));
        }
        if FREE_INTERFACES.contains(&interface.name) {
            return Ok(());
        }
        let capability = shown(interface.name);
        return Err(ImportError::Capability { import: shown(import), capability });
    }
    let Some(wasi) = import.strip_prefix("wasi:") else {
        return Err(ImportError::Unknown(shown(import)));
    };
    if is_sandboxed_wasi(wasi) {
        return Ok(());
    }
    Err(ImportError::Wasi { import: shown(import), hint: hint(wasi) })
}

/// `io/poll@0.2.3`: one of the packages, any patch of 0.2.
fn is_sandboxed_wasi(wasi: &str) -> bool {
    let package = wasi.split_once('/').map(|(package, _)| package);
    let version = wasi.rsplit_once('@').map(|(_, version)| version);
    package.is_some_and(|package| WASI_PACKAGES.contains(&package))
        && version.is_some_and(|version| version.starts_with("0.2."))
}

fn hint(wasi: &str) -> &'static str {
    if wasi.starts_with("http/") {
        "build without it: `jco componentize --disable http` for JavaScript, \
         no HTTP client in Rust, `componentize-py componentize -s` for Python"
    } else if WASI_PACKAGES.iter().any(|package| wasi.starts_with(package)) {
        "build for WASI 0.2: target `wasm32-wasip2`, or `tympan-addon build` which needs no WASI"
    } else {
        "build without it: `tympan-addon build` for Rust, `componentize-py componentize -s` for Python, \
         `jco componentize --disable all` for JavaScript"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(import: &str) -> String {
        check(&["wasi:io/poll@0.2.0".to_owned(), import.to_owned()]).unwrap_err().to_string()
    }

    #[test]
    fn the_sandbox_is_given() {
        let names = [
            "tympan:addon/types@0.1.0",
            "tympan:addon/runtime@0.1.3",
            "wasi:cli/stdout@0.2.9",
            "wasi:sockets/tcp@0.2.0",
        ];
        assert_eq!(check(&names.map(str::to_owned)), Ok(()));
    }

    #[test]
    fn a_capability_is_refused_by_name() {
        assert!(refusal("tympan:addon/llm@0.1.0").contains("`llm`"));
        assert!(refusal("tympan:addon/runtime@0.2.0").contains("speaks version 0.1"));
    }

    #[test]
    fn other_wasi_is_refused_with_the_way_out() {
        assert!(refusal("wasi:http/outgoing-handler@0.2.0").contains("--disable http"));
        assert!(refusal("wasi:io/poll@0.3.0").contains("wasm32-wasip2"));
        assert!(refusal("wasi:keyvalue/store@0.2.0").contains("tympan-addon build"));
    }

    #[test]
    fn anything_else_is_refused() {
        assert!(refusal("env").contains("does not know"));
        assert!(refusal("acme:tools/files@1.0.0").contains("acme:tools/files@1.0.0"));
    }
}
