//! What an add-on says about itself.

use serde::{Deserialize, Serialize};

/// An add-on's place in the path of a job, in running order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Slot {
    /// May change the transcript.
    Transcript,
    /// Reads the transcript; returns a result or variants.
    Analysis,
    /// Makes final artefacts.
    Render,
}

/// The answer of an add-on to `describe`, checked by the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Descriptor {
    /// Key of its wrapper in a result.
    pub name: String,
    /// Version of the add-on.
    pub version: String,
    /// One sentence.
    pub summary: String,
    /// Boolean request field that switches it on.
    pub request_flag: String,
    /// Request field with its config object.
    pub config_key: Option<String>,
    /// JSON Schema (2020-12) of that object, JSON text.
    pub config_schema: String,
    /// JSON Schema of its result, JSON text.
    pub result_schema: Option<String>,
    /// When it runs.
    pub slot: Slot,
    /// Values of [`super::job::JobContext::mode`] that it serves.
    pub modes: Vec<String>,
    /// Open set: `redacts`, `per-variant`.
    pub effects: Vec<String>,
    /// Runs after these when they are on.
    pub after: Vec<String>,
    /// Switches these on.
    pub requires: Vec<String>,
    /// What it would like to use.
    pub capabilities: Vec<CapabilityRequest>,
    /// JSON object.
    pub extra: String,
}

/// The answer to `describe` as it came: nothing is checked, the slot is still text. The
/// members are those of [`Descriptor`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct RawDescriptor {
    pub name: String,
    pub version: String,
    pub summary: String,
    pub request_flag: String,
    pub config_key: Option<String>,
    pub config_schema: String,
    pub result_schema: Option<String>,
    pub slot: String,
    pub modes: Vec<String>,
    pub effects: Vec<String>,
    pub after: Vec<String>,
    pub requires: Vec<String>,
    pub capabilities: Vec<CapabilityRequest>,
    pub extra: String,
}

impl Descriptor {
    /// Whether a failure of this add-on must withhold the transcript.
    pub fn redacts(&self) -> bool {
        self.effects.iter().any(|effect| effect == "redacts")
    }

    /// Whether it also runs once on each variant.
    pub fn runs_per_variant(&self) -> bool {
        self.effects.iter().any(|effect| effect == "per-variant")
    }
}

/// A capability that an add-on asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapabilityRequest {
    /// For example `llm`.
    pub name: String,
    /// Whether it refuses to work without the grant.
    pub required: bool,
    /// One sentence for the operator.
    pub reason: String,
    /// Narrowing, for example host names.
    pub scope: Vec<String>,
}

/// Something wrong with a config object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigProblem {
    /// JSON Pointer into the config object, empty for the whole.
    pub pointer: String,
    /// What to change.
    pub message: String,
}
