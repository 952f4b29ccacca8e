//! What became of one add-on of a job, before it is placed in the result.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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

    /// An add-on that ran to its end. `side_members` are members of an object result that
    /// stand beside `results` in the wrapper.
    pub fn succeeded(
        name: &str,
        exec_time_s: f64,
        result: Option<Value>,
        side_members: &[String],
        variants: Vec<Variant>,
    ) -> Self {
        let declares_result = result.is_some() || !variants.is_empty();
        let (results, extra) = split(result.unwrap_or(Value::Null), side_members);
        let is_empty = variants.is_empty() && is_nothing(&results);
        let wrapper =
            Wrapper { success: true, is_empty, exec_time: exec_time_s, error: None, results, extra };
        Self { name: name.to_owned(), declares_result, wrapper, variants }
    }

    /// Whether it ran to its end.
    pub fn is_success(&self) -> bool {
        self.wrapper.success
    }
}

/// Takes `{"results": …, "<side member>": …}` apart; any other result stays whole.
fn split(result: Value, side_members: &[String]) -> (Value, Map<String, Value>) {
    match result {
        Value::Object(mut object) if !side_members.is_empty() && object.contains_key("results") => {
            let mut extra = Map::new();
            for name in side_members {
                if let Some(value) = object.remove(name) {
                    extra.insert(name.clone(), value);
                }
            }
            (object.remove("results").unwrap_or(Value::Null), extra)
        }
        other => (other, Map::new()),
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_found_is_empty_and_a_number_is_not() {
        for nothing in [json!(null), json!(""), json!([]), json!({})] {
            let outcome = Outcome::succeeded("x", 0.1, Some(nothing.clone()), &[], Vec::new());
            assert!(outcome.wrapper.is_empty, "{nothing}");
        }
        for something in [json!(0), json!(false), json!("a"), json!([null])] {
            let outcome = Outcome::succeeded("x", 0.1, Some(something.clone()), &[], Vec::new());
            assert!(!outcome.wrapper.is_empty, "{something}");
        }
    }

    #[test]
    fn side_members_stand_beside_results() {
        let result = json!({"results": ["a"], "items": [{"sentence": "a"}]});
        let outcome = Outcome::succeeded("sentences", 0.1, Some(result), &["items".to_owned()], Vec::new());
        let wrapper = serde_json::to_value(&outcome.wrapper).unwrap();
        assert_eq!(wrapper["results"], json!(["a"]));
        assert_eq!(wrapper["items"], json!([{"sentence": "a"}]));
    }
}
