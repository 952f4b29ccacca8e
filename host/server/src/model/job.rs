//! A job: what was asked for, and how far it is.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::id::FileId;
use super::language::Language;

/// Where a job stands; it never goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Accepted, waiting for a worker.
    Queued,
    /// A worker has it.
    Processing,
    /// Finished; the result is there.
    Done,
    /// Failed; `error_code` says how.
    Error,
}

/// Recorded or live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A file.
    PreRecorded,
    /// A session over a socket.
    Live,
}

impl Kind {
    /// The name in the interface.
    pub fn name(self) -> &'static str {
        match self {
            Self::PreRecorded => "pre-recorded",
            Self::Live => "live",
        }
    }
}

/// Where the audio comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AudioSource {
    /// A file in our own store.
    Stored(FileId),
    /// A file elsewhere, http or https.
    Url(String),
}

/// Which languages to expect.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LanguageConfig {
    /// Empty: any.
    pub languages: Vec<Language>,
    /// Detect on every utterance instead of once a file.
    pub code_switching: bool,
}

/// HTTP method of a callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CallbackMethod {
    /// The default.
    #[default]
    Post,
    /// On request.
    Put,
}

/// Where the client wants to hear of the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Callback {
    /// http or https.
    pub url: String,
    /// POST or PUT.
    pub method: CallbackMethod,
}

/// An add-on of a job, fixed when the job is accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedAddon {
    /// Name in the result.
    pub name: String,
    /// SHA-256 of the component, hex.
    pub digest: String,
    /// Its config as the add-on normalised it: JSON text.
    pub config: String,
    /// Declares the effect `redacts`: when it cannot run, nothing is delivered.
    pub redacts: bool,
}

/// A validated request: all that the worker needs to know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobSpec {
    /// Canonical model name, a key of the config's `models` table (`stt-1`).
    pub model: String,
    /// Where the audio comes from.
    pub audio: AudioSource,
    /// Expected languages.
    pub language: LanguageConfig,
    /// The add-ons in the order in which they run.
    pub addons: Vec<PlannedAddon>,
    /// Flags of the specification that were on while no add-on served them.
    pub missing_addons: Vec<String>,
    /// Refine word times (`accurate_words_timestamps`).
    pub accurate_word_times: bool,
    /// Where to send the end of the job.
    pub callback: Option<Callback>,
    /// Echoed to the client.
    pub custom_metadata: Option<Map<String, Value>>,
    /// The `request_params` member as it is echoed.
    pub request_params: Map<String, Value>,
    /// Where the request stands in a trace, a W3C `traceparent`: what is done for the job later
    /// belongs to the same trace. Absent where no traces are collected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_parent: Option<String>,
}

impl JobSpec {
    /// What is left of a request of which nothing may be kept.
    pub fn erased() -> Self {
        Self {
            model: String::new(),
            audio: AudioSource::Url(String::new()),
            language: LanguageConfig::default(),
            addons: Vec::new(),
            missing_addons: Vec::new(),
            accurate_word_times: false,
            callback: None,
            custom_metadata: None,
            request_params: Map::new(),
            trace_parent: None,
        }
    }
}
