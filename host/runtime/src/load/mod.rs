//! From a file to a component that is ready to run: digest, contract version, compile
//! cache, checks.

pub mod binary;

use std::collections::BTreeSet;

use crate::defaults::Limits;

/// What the operator decided about one add-on.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// Names of the capabilities that it may use.
    pub grants: BTreeSet<String>,
    /// What one call may use up.
    pub limits: Limits,
    /// The only file that is accepted, SHA-256 in hex.
    pub expected_sha256: Option<String>,
    /// Names, flags and config keys that this add-on must not use: fields of the
    /// request and of the result that belong to somebody else.
    pub taken_names: BTreeSet<String>,
}

/// Why a file is no add-on for this host. One sentence each, for the operator.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read the file: {0}")]
    Read(#[from] std::io::Error),
    /// The file is not a component of a version that this host speaks.
    #[error(transparent)]
    File(#[from] binary::FileError),
}
