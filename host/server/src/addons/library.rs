//! All add-ons of this host: read from folders at start and on request, swapped as a whole.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use tympan_runtime::{Addon, DescriptorError, LoadError, Runtime};

use super::copies::Copies;
use super::set::{AddonSet, Candidate, Refusal};
use super::settings::{LibrarySettings, OperatorSettings};
use crate::metrics;

/// The add-ons that this host has now.
pub struct Library {
    runtime: Runtime,
    settings: LibrarySettings,
    copies: Arc<Copies>,
    current: ArcSwap<AddonSet>,
}

impl Library {
    /// Reads all folders. Files that cannot be loaded are refused one by one; the rest is
    /// there.
    pub async fn open(runtime: Runtime, settings: LibrarySettings) -> Self {
        let copies = Arc::new(Copies::new(settings.components_dir.clone()));
        let library = Self { runtime, settings, copies, current: ArcSwap::default() };
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
            let files = component_files(folder).await.unwrap_or_else(|error| {
                tracing::warn!(folder = %folder.display(), %error, "cannot read a folder of add-ons; those that it held stay");
                before.files_in(folder)
            });
            for file in files {
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
        let digests: Vec<String> =
            before.entries().iter().map(|entry| entry.addon.digest().to_owned()).collect();
        self.with_copies(move |copies| {
            let noted: Vec<_> = digests.iter().map(|digest| copies.note_use(digest)).collect();
            noted.into_iter().collect()
        })
        .await;
        self.current.store(Arc::new(set));
    }

    /// The add-ons as they are now.
    pub fn current(&self) -> Arc<AddonSet> {
        self.current.load_full()
    }

    /// Removes copies of components that are not in use and that no job was `promised`, by
    /// digest.
    pub async fn forget_copies(&self, mut promised: HashSet<String>) {
        promised.extend(self.current().entries().iter().map(|entry| entry.addon.digest().to_owned()));
        self.with_copies(move |copies| copies.remove_all_but(&promised)).await;
    }

    /// The component that a job was promised, by digest: the current one, or the kept copy
    /// of one that has been replaced since.
    pub async fn with_digest(&self, name: &str, digest: &str) -> Option<Addon> {
        if let Some(entry) = self.current().by_name(name).filter(|entry| entry.addon.digest() == digest) {
            return Some(entry.addon.clone());
        }
        let policy = self.operator(name).policy();
        self.runtime
            .load(&self.copies.path(digest), &policy)
            .await
            .ok()
            .filter(|addon| addon.digest() == digest)
    }

    /// `None` where the operator switched the add-on off.
    async fn load(&self, file: &Path) -> Result<Option<Addon>, LoadError> {
        let grants =
            self.settings.addons.values().flat_map(|operator| operator.grants.iter().cloned()).collect();
        let open = tympan_runtime::Policy { grants, ..Default::default() };
        // The first load tells the name, and the name tells what the operator decided.
        let bytes = Runtime::read(file).await?;
        let addon = self.runtime.load_bytes(bytes.clone(), &open).await?;
        let operator = self.operator(&addon.descriptor().name);
        if !operator.enabled {
            return Ok(None);
        }
        let addon = addon.with_policy(&operator.policy())?;
        let digest = addon.digest().to_owned();
        self.with_copies(move |copies| copies.keep(&digest, &bytes)).await;
        Ok(Some(addon))
    }

    fn operator(&self, name: &str) -> OperatorSettings {
        self.settings.addons.get(name).cloned().unwrap_or_default()
    }

    /// Copies are for later: an add-on whose copy cannot be kept is used nevertheless.
    async fn with_copies(&self, work: impl FnOnce(&Copies) -> io::Result<()> + Send + 'static) {
        let copies = self.copies.clone();
        let done = tokio::task::spawn_blocking(move || work(&copies)).await;
        if let Err(error) = done.map_err(io::Error::other).flatten() {
            tracing::warn!(%error, "cannot keep copies of add-ons; a job may fail when its add-on is replaced");
        }
    }
}

/// The `.wasm` files of a folder by name; a folder that is not there has none.
async fn component_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut entries = match tokio::fs::read_dir(folder).await {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(files),
        opened => opened?,
    };
    while let Some(entry) = entries.next_entry().await? {
        if entry.path().extension().is_some_and(|extension| extension == "wasm") {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

fn note_denial(file: &Path, error: &LoadError) {
    let is_denial =
        matches!(error, LoadError::Import(_) | LoadError::Descriptor(DescriptorError::Capability { .. }));
    if let (true, Some(name)) = (is_denial, file.file_stem()) {
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
