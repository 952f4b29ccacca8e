//! All add-ons of this host: read from folders at start and on request, swapped as a whole.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use tympan_runtime::{Addon, LoadError, Runtime};

use super::set::{AddonSet, Candidate, Refusal};
use super::settings::{LibrarySettings, OperatorSettings};
use crate::metrics;

/// How long a copy of a replaced component is kept: as long as an accepted job may run.
const COPY_LIFETIME: std::time::Duration = std::time::Duration::from_secs(3 * 3600);

/// The add-ons that this host has now.
pub struct Library {
    runtime: Runtime,
    settings: LibrarySettings,
    current: ArcSwap<AddonSet>,
}

impl Library {
    /// Reads all folders. Files that cannot be loaded are refused one by one; the rest is
    /// there.
    pub async fn open(runtime: Runtime, settings: LibrarySettings) -> Self {
        let library = Self { runtime, settings, current: ArcSwap::default() };
        library.reload().await;
        library
    }

    /// Reads all folders again. Running jobs keep what they started with; a file that has
    /// become bad leaves the add-on it held before in place.
    pub async fn reload(&self) {
        let before = self.current();
        let mut candidates = Vec::new();
        let mut refused = Vec::new();
        for (at, folder) in self.settings.folders.iter().enumerate() {
            for file in component_files(folder).await {
                match self.load(&file).await {
                    Ok(Some(addon)) => {
                        candidates.push(Candidate {
                            addon,
                            file,
                            built_in: at < self.settings.built_in_folders,
                        });
                    }
                    Ok(None) => {}
                    Err(error) => {
                        note_denial(&file, &error);
                        candidates.extend(before.loaded_from(&file));
                        refused.push(Refusal { file, reason: error.to_string() });
                    }
                }
            }
        }
        let set = AddonSet::build(candidates, refused, &self.settings.addons);
        report(&set);
        self.keep_copies(&set).await;
        self.current.store(Arc::new(set));
    }

    /// The add-ons as they are now.
    pub fn current(&self) -> Arc<AddonSet> {
        self.current.load_full()
    }

    /// The component that a job was promised, by digest: the current one, or the kept copy
    /// of one that has been replaced since.
    pub async fn with_digest(&self, name: &str, digest: &str) -> Option<Addon> {
        if let Some(entry) = self.current().by_name(name).filter(|entry| entry.addon.digest() == digest) {
            return Some(entry.addon.clone());
        }
        let copy = self.copy_path(digest);
        let policy = self.operator(name).policy();
        self.runtime.load(&copy, &policy).await.ok().filter(|addon| addon.digest() == digest)
    }

    /// `None` where the operator switched the add-on off.
    async fn load(&self, file: &Path) -> Result<Option<Addon>, LoadError> {
        let grants =
            self.settings.addons.values().flat_map(|operator| operator.grants.iter().cloned()).collect();
        let open = tympan_runtime::Policy { grants, ..Default::default() };
        // The first load tells the name, and the name tells what the operator decided.
        let addon = self.runtime.load(file, &open).await?;
        let operator = self.operator(&addon.descriptor().name);
        if !operator.enabled {
            return Ok(None);
        }
        addon.with_policy(&operator.policy()).map(Some)
    }

    fn operator(&self, name: &str) -> OperatorSettings {
        self.settings.addons.get(name).cloned().unwrap_or_default()
    }

    fn copy_path(&self, digest: &str) -> PathBuf {
        self.settings.components_dir.join(format!("{digest}.wasm"))
    }

    async fn keep_copies(&self, set: &AddonSet) {
        if let Err(error) = self.try_keep_copies(set).await {
            tracing::warn!(%error, "cannot keep copies of add-ons; a job may fail when its add-on is replaced");
        }
    }

    async fn try_keep_copies(&self, set: &AddonSet) -> std::io::Result<()> {
        let folder = &self.settings.components_dir;
        tokio::fs::create_dir_all(folder).await?;
        for entry in set.entries() {
            let copy = self.copy_path(entry.addon.digest());
            if !tokio::fs::try_exists(&copy).await? {
                let partial = copy.with_extension("partial");
                tokio::fs::copy(&entry.file, &partial).await?;
                tokio::fs::rename(&partial, &copy).await?;
            }
        }
        let mut files = tokio::fs::read_dir(folder).await?;
        while let Some(file) = files.next_entry().await? {
            let age = file.metadata().await?.modified()?.elapsed().unwrap_or_default();
            let used = set.entries().iter().any(|entry| self.copy_path(entry.addon.digest()) == file.path());
            if !used && age > COPY_LIFETIME {
                tokio::fs::remove_file(file.path()).await?;
            }
        }
        Ok(())
    }
}

/// The `.wasm` files of a folder by name; a folder that is not there has none.
async fn component_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let Ok(mut entries) = tokio::fs::read_dir(folder).await else { return files };
    while let Ok(Some(entry)) = entries.next_entry().await {
        if entry.path().extension().is_some_and(|extension| extension == "wasm") {
            files.push(entry.path());
        }
    }
    files.sort();
    files
}

fn note_denial(file: &Path, error: &LoadError) {
    if let (LoadError::Import(_), Some(name)) = (error, file.file_stem()) {
        metrics::addon_denied(&name.to_string_lossy());
    }
}

fn report(set: &AddonSet) {
    for entry in set.entries() {
        let descriptor = entry.addon.descriptor();
        tracing::info!(
            addon = descriptor.name,
            version = descriptor.version,
            digest = entry.addon.digest(),
            "add-on loaded"
        );
    }
    for refusal in set.refused() {
        tracing::warn!(file = %refusal.file.display(), reason = refusal.reason, "add-on refused");
    }
}
