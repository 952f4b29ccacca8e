//! The service's own runtime, set up for an author: everything granted, log text shown.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tympan_runtime::{Addon, Limits, Policy, Runtime, RuntimeSettings};

/// Capabilities that a host may know; an author grants them all to the own add-on.
const CAPABILITIES: [&str; 9] =
    ["activity", "audio", "embeddings", "http", "kv", "llm", "raw-text", "speech-to-english", "translation"];

/// Reads a component file as the service would.
pub(crate) async fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    Runtime::read(file).await.with_context(|| format!("cannot read {}", file.display()))
}

/// Loads a component as the service would, with these limits.
pub(crate) async fn load(file: &Path, limits: Limits) -> anyhow::Result<Addon> {
    let settings = RuntimeSettings { cache_dir: cache_dir(), max_instances: 1, log_text: true };
    let runtime = Runtime::new(settings)?;
    let grants = CAPABILITIES.into_iter().map(str::to_owned).collect();
    let policy = Policy { grants, limits, expected_sha256: None, taken_names: BTreeSet::new() };
    runtime.load(file, &policy).await.with_context(|| format!("cannot load {}", file.display()))
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
