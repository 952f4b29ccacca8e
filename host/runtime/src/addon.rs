//! A loaded add-on.

use std::path::Path;

use crate::call::report::{Call, CallReport};
use crate::data::descriptor::{ConfigProblem, Descriptor};
use crate::data::job::AddonError;

/// A loaded add-on; cloning shares it.
#[derive(Debug, Clone)]
pub struct Addon {}

/// Why a config was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The config is wrong.
    #[error("the config has {} problem(s)", .0.len())]
    Problems(Vec<ConfigProblem>),
    /// The add-on failed while it looked at the config.
    #[error("the add-on failed to check its config: {}", .0.exception)]
    Failed(AddonError),
}

/// What an add-on did since it was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Calls of `process`.
    pub calls: u64,
    /// Calls that ended with an error of any kind.
    pub failures: u64,
    /// Calls that trapped or broke a limit.
    pub traps: u64,
    /// Calls that ran into the wall-clock limit.
    pub timeouts: u64,
    /// Uses of something that was not granted.
    pub denials: u64,
    /// Outputs that broke a rule of the contract.
    pub invalid_outputs: u64,
    /// Lines written.
    pub log_lines: u64,
}

impl Addon {
    /// What it says about itself.
    pub fn descriptor(&self) -> &Descriptor {
        unreachable!("no add-on loads yet")
    }

    /// SHA-256 of the file, hex.
    pub fn digest(&self) -> &str {
        unreachable!("no add-on loads yet")
    }

    /// Where it was loaded from, if from a file.
    pub fn path(&self) -> Option<&Path> {
        unreachable!("no add-on loads yet")
    }

    /// Names of imported interfaces.
    pub fn imports(&self) -> &[String] {
        unreachable!("no add-on loads yet")
    }

    /// Length of the file.
    pub fn size_bytes(&self) -> u64 {
        unreachable!("no add-on loads yet")
    }

    /// What it did since it was loaded.
    pub fn counters(&self) -> Counters {
        unreachable!("no add-on loads yet")
    }

    /// Asks the add-on whether `config` (JSON text) is right; gives the config to keep
    /// with the job, defaults filled in.
    pub async fn validate_config(&self, config: &str) -> Result<String, ConfigError> {
        let _ = config;
        unreachable!("no add-on loads yet")
    }

    /// Runs it once. Waits while as many calls as the runtime allows are under way.
    pub async fn process(&self, call: Call<'_>) -> CallReport {
        let _ = call;
        unreachable!("no add-on loads yet")
    }
}
