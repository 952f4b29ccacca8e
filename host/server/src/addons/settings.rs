//! What the operator decides about add-ons.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tympan_runtime::defaults::MEMORY_SLOT_BYTES;
use tympan_runtime::{Limits, Policy};

/// Where add-ons come from and what each may do.
#[derive(Debug, Clone, Default)]
pub struct LibrarySettings {
    /// Folders in the order in which they are read; the first holds the built-ins.
    pub folders: Vec<PathBuf>,
    /// How many of `folders`, from the first, hold add-ons of ours.
    pub built_in_folders: usize,
    /// Where copies of components lie under their digest, so that a job that was accepted
    /// before a file was replaced still runs with what it was promised.
    pub components_dir: PathBuf,
    /// `[addons.<name>]` of the config.
    pub addons: BTreeMap<String, OperatorSettings>,
}

/// Most memory that one call can be given, MiB.
pub const MOST_MEMORY_MB: u64 = (MEMORY_SLOT_BYTES >> 20) as u64;

/// `[addons.<name>]`: decisions about one add-on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OperatorSettings {
    /// False: the file is not loaded.
    pub enabled: bool,
    /// On in every job; a request cannot switch it off.
    pub force: bool,
    /// A request that asks for it while it is not installed is refused.
    pub required: bool,
    /// The only file that is accepted, SHA-256 in hex.
    pub sha256: Option<String>,
    /// Capabilities that it may use.
    pub grants: Vec<String>,
    /// Wall-clock limit of a call, milliseconds.
    pub timeout_ms: Option<u64>,
    /// Memory of a call, MiB; at most [`MOST_MEMORY_MB`].
    pub memory_mb: Option<u64>,
    /// Output of a call, MiB.
    pub output_mb: Option<u64>,
    /// A file in a later folder may take the place of one with the same name.
    pub replace: bool,
}

impl Default for OperatorSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            force: false,
            required: false,
            sha256: None,
            grants: Vec::new(),
            timeout_ms: None,
            memory_mb: None,
            output_mb: None,
            replace: false,
        }
    }
}

impl OperatorSettings {
    /// The runtime's form of these decisions.
    pub fn policy(&self) -> Policy {
        let mut limits = Limits::default();
        if let Some(timeout_ms) = self.timeout_ms {
            limits.timeout = std::time::Duration::from_millis(timeout_ms);
        }
        if let Some(memory_mb) = self.memory_mb {
            limits.memory_bytes = mebibytes(memory_mb);
        }
        if let Some(output_mb) = self.output_mb {
            limits.output_bytes = mebibytes(output_mb);
        }
        Policy {
            grants: self.grants.iter().cloned().collect(),
            limits,
            expected_sha256: self.sha256.clone(),
            ..Policy::default()
        }
    }
}

fn mebibytes(count: u64) -> usize {
    usize::try_from(count.saturating_mul(1 << 20)).unwrap_or(usize::MAX)
}
