//! Why a configuration cannot be used; one sentence each, for the operator.

use std::path::PathBuf;

/// A configuration that was refused.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the configuration file {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not TOML, or has a key or a type that is not expected.
    #[error("the configuration file {} is not valid: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        message: String,
    },
    /// A setting has a value that cannot be used.
    #[error("{setting} {problem}")]
    Invalid {
        /// A dotted key of the file or the name of an environment variable.
        setting: String,
        /// What to change.
        problem: String,
    },
}

impl ConfigError {
    /// A setting that cannot be used: `problem` continues the sentence that its name begins.
    pub(super) fn invalid(setting: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Invalid { setting: setting.into(), problem: problem.into() }
    }
}
