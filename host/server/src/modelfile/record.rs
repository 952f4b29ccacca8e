//! The note beside an installed model: its digest, where it came from, and what its
//! original config says that a ggml file has no place for.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::bytes;
use super::check::ModelInfo;

/// Longest note or config that is read.
const MOST_BYTES: u64 = 4_000_000;

/// Stored as JSON beside the model, under the same name with `.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// SHA-256 of the model file, hex.
    pub sha256: String,
    /// Length of the model file.
    pub size_bytes: u64,
    /// Where it came from, for `list`.
    pub source: String,
    /// (decoder layer, head) pairs of the original model's config; may be empty.
    #[serde(default)]
    pub alignment_heads: Vec<(u32, u32)>,
}

impl Record {
    /// The alignment heads, if this note belongs to the file and all of them exist in it.
    pub(super) fn heads_for(&self, info: &ModelInfo) -> Vec<(u32, u32)> {
        let sizes = &info.architecture;
        let exists = |&(layer, head): &(u32, u32)| layer < sizes.text_layers && head < sizes.text_heads;
        if self.size_bytes == info.size_bytes && self.alignment_heads.iter().all(exists) {
            return self.alignment_heads.clone();
        }
        Vec::new()
    }
}

/// Where the note of a model file lies.
pub(super) fn path_for(model: &Path) -> PathBuf {
    model.with_extension("json")
}

/// The note of a model file. None where there is none that can be read: a model copied
/// into the folder by hand works without.
pub fn read(model: &Path) -> Option<Record> {
    let text = bytes::text(&path_for(model), MOST_BYTES).ok()?;
    serde_json::from_str(&text).ok()
}

/// What `config.json` of a faster-whisper folder adds to the weights.
#[derive(Debug, Default, Deserialize)]
pub(super) struct OriginalConfig {
    #[serde(default)]
    pub alignment_heads: Vec<(u32, u32)>,
}

impl OriginalConfig {
    /// Reads `config.json`; a folder without one, or with another kind, has no heads to
    /// offer, and the preset of its size is used.
    pub fn read(folder: &Path) -> Self {
        bytes::text(&folder.join("config.json"), MOST_BYTES)
            .ok()
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default()
    }
}
