//! The recordings of `tests/fixtures/audio` and what the manifest says about them.

use std::path::PathBuf;

use serde::Deserialize;

use crate::server::root;

/// A recording.
#[derive(Debug, Clone, Deserialize)]
pub struct Recording {
    /// Path below the folder of recordings.
    pub file: String,
    /// What it is good for.
    pub kind: String,
    /// Language code, where known.
    pub language: Option<String>,
    /// Seconds, where known.
    pub duration: Option<f64>,
    /// Tracks, where known.
    pub channels: Option<u32>,
    /// What is said, where known.
    pub reference: Option<String>,
    /// For damaged and odd files: `decode`, `error` or `either`.
    pub expect: Option<String>,
}

/// The folder of recordings.
pub fn folder() -> PathBuf {
    root().join("tests/fixtures/audio")
}

/// All recordings.
pub fn all() -> Vec<Recording> {
    #[derive(Deserialize)]
    struct Manifest {
        files: Vec<Recording>,
    }
    let text = std::fs::read_to_string(folder().join("manifest.json")).expect("the manifest is there");
    serde_json::from_str::<Manifest>(&text).expect("the manifest is JSON").files
}

/// One recording.
pub fn one(file: &str) -> Recording {
    all().into_iter().find(|recording| recording.file == file).expect("the manifest names the file")
}

/// The bytes of a recording.
pub fn bytes(file: &str) -> Vec<u8> {
    std::fs::read(folder().join(file)).expect("the recording is there")
}
