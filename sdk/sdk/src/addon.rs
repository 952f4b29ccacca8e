//! The trait that an author implements.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::doc::Doc;
use crate::error::Result;
use crate::job::Job;
use crate::meta::Meta;

/// An add-on: name the types, say what it is, do the work.
pub trait Addon: 'static {
    /// The config object of the request. Its doc comments, bounds (`#[schemars(range(…))]`) and
    /// defaults (`#[serde(default)]`) become the JSON Schema that the host checks requests
    /// against. [`NoConfig`] when there is nothing to configure.
    type Config: DeserializeOwned + Serialize + JsonSchema + 'static;

    /// What stands as `results` in the response; `()` for an add-on that only changes the
    /// transcript.
    type Output: Serialize + JsonSchema + 'static;

    /// Name, place and needs.
    const META: Meta;

    /// Rules that a schema cannot express, checked when the request arrives.
    fn check(_config: &Self::Config, _problems: &mut Problems) {}

    /// The work, on the whole transcript.
    ///
    /// # Errors
    /// Ends as the `error` of the add-on's wrapper; the job and its transcript go on.
    fn process(config: Self::Config, job: &Job, doc: &mut Doc) -> Result<Self::Output>;
}

/// The config of an add-on that has nothing to configure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoConfig {}

/// One thing to change in a config.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// JSON Pointer into the config object (`/phrases/0`), empty for the whole.
    pub pointer: String,
    /// Completes a sentence that starts with the path: `must not be empty`.
    pub message: String,
}

/// Collects what is wrong with a config.
#[derive(Debug, Default)]
pub struct Problems(pub(crate) Vec<Problem>);

impl Problems {
    /// Adds one: `problems.add("/phrases/0", "must not be empty")`.
    pub fn add(&mut self, pointer: impl Into<String>, message: impl Into<String>) {
        self.0.push(Problem { pointer: pointer.into(), message: message.into() });
    }
}
