//! What became of one add-on of a job, before it is placed in the result.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tympan_runtime as runtime;
use tympan_runtime::{Addon, PreviousOutput, ResultParts};

use super::convert;
use crate::model::result::{AddonError, Wrapper};
use crate::model::transcript::Transcript;

/// One add-on's end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The add-on.
    pub name: String,
    /// Whether it declares a result; one without has no member when it succeeds.
    pub declares_result: bool,
    /// The five members.
    pub wrapper: Wrapper,
    /// Further transcripts it made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<Variant>,
}

/// A further transcript, for example a translation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// Unique among the variants of its add-on.
    pub id: String,
    /// Language code.
    pub language: String,
    /// The transcript, or why there is none.
    pub transcript: Result<Transcript, AddonError>,
    /// Add-ons with the effect `per-variant` that ran on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addons: Vec<Outcome>,
}

impl Outcome {
    /// An add-on that failed.
    pub fn failed(name: &str, exec_time_s: f64, error: AddonError) -> Self {
        let wrapper = Wrapper {
            success: false,
            is_empty: false,
            exec_time: exec_time_s,
            error: Some(error),
            results: Value::Null,
            extra: Map::new(),
        };
        Self { name: name.to_owned(), declares_result: true, wrapper, variants: Vec::new() }
    }

    /// A flag of the specification that no component serves.
    pub fn not_installed(name: &str) -> Self {
        let message = format!("no add-on named {name} is installed on this server");
        let error = AddonError { status_code: 501, exception: "AddonNotInstalled".to_owned(), message };
        Self::failed(name, 0.0, error)
    }

    /// An add-on that ran to its end. `result` is `None` where it only changed the transcript.
    pub fn succeeded(
        name: &str,
        exec_time_s: f64,
        result: Option<ResultParts>,
        variants: Vec<Variant>,
    ) -> Self {
        let declares_result = result.is_some();
        let (results, extra, is_empty) = result
            .map_or((Value::Null, Map::new(), true), |parts| (parts.results, parts.beside, parts.is_empty));
        let wrapper =
            Wrapper { success: true, is_empty, exec_time: exec_time_s, error: None, results, extra };
        Self { name: name.to_owned(), declares_result, wrapper, variants }
    }

    /// An add-on that ran to its end, from what it returned on `input`.
    pub fn returned(
        name: &str,
        exec_time_s: f64,
        output: runtime::AddonOutput,
        addon: Option<&Addon>,
        input: &runtime::Transcript,
    ) -> Self {
        let returned_one = output.result.is_some() || !output.variants.is_empty();
        let descriptor = addon.map(Addon::descriptor).filter(|_| returned_one);
        let result = descriptor.map(|descriptor| ResultParts::of(&output, descriptor));
        let variants = output.variants.into_iter().map(|variant| Variant {
            transcript: match variant.outcome {
                Ok(transcript) => Ok(convert::from_runtime(&transcript, input, &variant.language)),
                Err(error) => Err(convert::error(error)),
            },
            id: variant.id,
            language: variant.language,
            addons: Vec::new(),
        });
        Self::succeeded(name, exec_time_s, result, variants.collect())
    }

    /// As a later add-on sees it.
    pub fn as_previous(&self) -> PreviousOutput {
        let status = match (self.is_success(), self.wrapper.is_empty) {
            (false, _) => "failed",
            (true, true) => "empty",
            (true, false) => "done",
        };
        let results = &self.wrapper.results;
        let result = (!results.is_null()).then(|| results.to_string());
        PreviousOutput { name: self.name.clone(), status: status.to_owned(), result }
    }

    /// Whether it ran to its end.
    pub fn is_success(&self) -> bool {
        self.wrapper.success
    }
}
