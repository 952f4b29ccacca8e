//! The engine that all add-ons of a process share.

use std::path::{Path, PathBuf};

use crate::addon::Addon;
use crate::defaults;
use crate::load::binary::{FileError, Inspection};
use crate::load::{LoadError, Policy};

/// How a runtime is set up.
#[derive(Debug, Clone)]
pub struct RuntimeSettings {
    /// Folder for compiled components, writable by nobody else, because what lies in it
    /// is run as native code. `None` compiles on every load.
    pub cache_dir: Option<PathBuf>,
    /// Calls that run at the same time, of all add-ons together.
    pub max_instances: u32,
    /// Whether text written by add-ons is kept in reports and shown in logs.
    pub log_text: bool,
}

impl Default for RuntimeSettings {
    fn default() -> RuntimeSettings {
        RuntimeSettings { cache_dir: None, max_instances: defaults::MAX_INSTANCES, log_text: false }
    }
}

/// Why the runtime cannot start.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The compiler or the memory pool cannot be set up.
    #[error("cannot set up the WebAssembly engine: {0}")]
    Engine(String),
}

/// The engine that all add-ons of a process share; cloning shares it.
#[derive(Debug, Clone)]
pub struct Runtime {}

impl Runtime {
    /// Starts the engine and its clock.
    pub fn new(settings: RuntimeSettings) -> Result<Runtime, RuntimeError> {
        let _ = settings;
        Ok(Runtime {})
    }

    /// Says what a file is without running or compiling it.
    pub fn inspect(bytes: &[u8]) -> Result<Inspection, FileError> {
        let _ = bytes;
        Err(FileError::NotWasm)
    }

    /// Loads an add-on from a file.
    pub async fn load(&self, path: &Path, policy: &Policy) -> Result<Addon, LoadError> {
        let _ = (path, policy);
        Err(FileError::NotWasm.into())
    }

    /// Loads an add-on from memory.
    pub async fn load_bytes(&self, bytes: Vec<u8>, policy: &Policy) -> Result<Addon, LoadError> {
        let _ = (bytes, policy);
        Err(FileError::NotWasm.into())
    }
}
