//! The service's own runtime, set up for an author: everything granted, log text shown.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tympan_runtime::{Addon, Limits, OFFERED_CAPABILITIES, Policy, Runtime, RuntimeSettings};

/// Reads a component file as the service would.
pub(crate) async fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    Runtime::read(file).await.with_context(|| format!("cannot read {}", file.display()))
}

/// Loads the bytes of a component file as the service would, with these limits.
pub(crate) async fn load(bytes: Vec<u8>, file: &Path, limits: Limits) -> anyhow::Result<Addon> {
    let settings = RuntimeSettings { cache_dir: cache_dir(), max_instances: 1, log_text: true };
    let runtime = Runtime::new(settings)?;
    let grants = OFFERED_CAPABILITIES.into_iter().map(str::to_owned).collect();
    let policy = Policy { grants, limits, expected_sha256: None, taken_names: BTreeSet::new() };
    runtime.load_bytes(bytes, &policy).await.with_context(|| format!("cannot load {}", file.display()))
}

/// Where the user's compiled components are kept between runs; none when there is no home.
fn cache_dir() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    Some(cache.join("tympan-addon"))
}

/// Runs a future to its end on this thread.
pub(crate) fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(future)
}
