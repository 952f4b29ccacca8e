//! What an operator decides about inference.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::model::language::Language;

/// Settings of the whole engine.
#[derive(Debug, Clone)]
pub struct EngineSettings {
    /// CPU cores to use for inference; 0 means as many as the machine has.
    pub threads: usize,
    /// Speech models by the name that clients use (`stt-1`).
    pub models: BTreeMap<String, SpeechModelSettings>,
}

/// A model name, its file and its rules.
#[derive(Debug, Clone)]
pub struct SpeechModelSettings {
    /// The ggml file. Names that share a file share its memory.
    pub file: PathBuf,
    /// The only languages of this model; `None`: all that the file knows.
    pub languages: Option<Vec<Language>>,
    /// Whether the language may change inside a file.
    pub code_switching: bool,
}
