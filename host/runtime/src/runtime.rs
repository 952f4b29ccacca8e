//! The engine that all add-ons of a process share.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Semaphore;
use wasmtime::Engine;
use wasmtime::component::Linker;

use crate::addon::Addon;
use crate::call::state::State;
use crate::contract::v0_1;
use crate::defaults;
use crate::engine::{self, Ticker};
use crate::load::binary::{self, FileError, Inspection};
use crate::load::cache::Cache;
use crate::load::{self, LoadError, Loader, Policy};

/// How a runtime is set up.
#[derive(Debug, Clone)]
pub struct RuntimeSettings {
    /// Folder for compiled components, writable by nobody else, because what lies in it
    /// is run as native code. `None` compiles on every load.
    pub cache_dir: Option<PathBuf>,
    /// Calls that run at the same time, of all add-ons together; at least 1.
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
    /// The compiler or the linker cannot be set up.
    #[error("cannot set up the WebAssembly engine: {0}")]
    Engine(String),
    /// The clock cannot be started.
    #[error("cannot start the clock of the add-ons: {0}")]
    Ticker(#[source] std::io::Error),
    /// The cache cannot be used.
    #[error("cannot use {} for compiled add-ons: {source}", folder.display())]
    Cache {
        /// The folder.
        folder: PathBuf,
        /// What is wrong with it.
        source: std::io::Error,
    },
}

/// The engine that all add-ons of a process share; cloning shares it. Must be used inside
/// a tokio runtime with time.
#[derive(Clone)]
pub struct Runtime(Arc<Shared>);

/// What the add-ons keep of their runtime.
pub struct Shared {
    pub engine: Engine,
    /// Places for calls.
    pub calls: Semaphore,
    /// Places for config checks.
    pub validations: Semaphore,
    pub log_text: bool,
    linker: Linker<State>,
    cache: Option<Cache>,
    compile_turn: Semaphore,
    _ticker: Ticker,
}

impl Runtime {
    /// Starts the engine and its clock.
    pub fn new(settings: RuntimeSettings) -> Result<Runtime, RuntimeError> {
        let calls = settings.max_instances.max(1);
        // One more for `describe`.
        let engine = engine::build(calls + defaults::MAX_VALIDATIONS + 1).map_err(no_engine)?;
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).map_err(no_engine)?;
        v0_1::add_to_linker(&mut linker).map_err(no_engine)?;
        let cache = match settings.cache_dir {
            Some(folder) => match Cache::open(&folder, &engine) {
                Ok(cache) => Some(cache),
                Err(source) => return Err(RuntimeError::Cache { folder, source }),
            },
            None => None,
        };
        let ticker = Ticker::start(&engine).map_err(RuntimeError::Ticker)?;
        Ok(Runtime(Arc::new(Shared {
            engine,
            calls: Semaphore::new(calls as usize),
            validations: Semaphore::new(defaults::MAX_VALIDATIONS as usize),
            log_text: settings.log_text,
            linker,
            cache,
            compile_turn: Semaphore::new(1),
            _ticker: ticker,
        })))
    }

    /// Says what a file is without running or compiling it.
    pub fn inspect(bytes: &[u8]) -> Result<Inspection, FileError> {
        binary::inspect(bytes)
    }

    /// Reads a component file.
    ///
    /// # Errors
    /// When it is no regular file, is larger than any component may be, or cannot be read.
    pub async fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
        load::read(path).await
    }

    /// Loads an add-on from a file. The first load compiles it, which takes from 0.2 s
    /// (Rust) to 20 s (Python).
    pub async fn load(&self, path: &Path, policy: &Policy) -> Result<Addon, LoadError> {
        let bytes = Self::read(path).await?;
        self.load_from(bytes, Some(path.to_owned()), policy).await
    }

    /// Loads an add-on from memory.
    pub async fn load_bytes(&self, bytes: Vec<u8>, policy: &Policy) -> Result<Addon, LoadError> {
        self.load_from(bytes, None, policy).await
    }

    async fn load_from(
        &self,
        bytes: Vec<u8>,
        path: Option<PathBuf>,
        policy: &Policy,
    ) -> Result<Addon, LoadError> {
        let shared = &self.0;
        let loader = Loader {
            engine: &shared.engine,
            linker: &shared.linker,
            cache: shared.cache.as_ref(),
            compile_turn: &shared.compile_turn,
        };
        let loaded = loader.load(bytes, policy).await?;
        Ok(Addon::new(shared.clone(), Arc::new(loaded), path, policy.limits.clone()))
    }
}

fn no_engine(error: wasmtime::Error) -> RuntimeError {
    RuntimeError::Engine(error.to_string())
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("free_places", &self.0.calls.available_permits())
            .finish_non_exhaustive()
    }
}
