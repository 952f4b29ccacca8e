//! Reads what a component file says about itself without running or compiling it.

use serde::Serialize;

/// What a component file says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Inspection {
    /// Version of the contract that it was built for, for example `0.1.0`.
    pub contract_version: String,
    /// SHA-256 of the file, hex.
    pub sha256: String,
    /// Length of the file.
    pub size_bytes: u64,
    /// Names of imported interfaces, as in the file.
    pub imports: Vec<String>,
    /// Names of exported interfaces, as in the file.
    pub exports: Vec<String>,
}

/// Why a file is not a component that this host can run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// No WebAssembly at all.
    #[error("this is not a WebAssembly file; build the add-on with `tympan-addon build`")]
    NotWasm,
}
