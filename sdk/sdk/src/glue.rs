//! What every add-on's exports do, in the crate's own types: the same code answers the host
//! and the native tests.

use std::any::TypeId;

use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use crate::addon::{Addon, Problem, Problems};
use crate::doc::{Doc, Variant};
use crate::error::{Error, Result, fail};
use crate::job::Job;
use crate::transcript::Transcript;

/// What a call gives back.
pub(crate) struct Reply {
    /// None when the add-on left the transcript alone.
    pub transcript: Option<Transcript>,
    /// JSON text; none for `Output = ()`.
    pub result: Option<String>,
    pub variants: Vec<Variant>,
}

/// Parses the config, applies the add-on's own rules and fills the defaults in.
pub(crate) fn validate_config<A: Addon>(text: &str) -> Result<String, Vec<Problem>> {
    let config = parse_config::<A>(text).map_err(|problem| vec![problem])?;
    let mut problems = Problems::default();
    A::check(&config, &mut problems);
    if !problems.0.is_empty() {
        return Err(problems.0);
    }
    let whole = |message: String| vec![Problem { pointer: String::new(), message }];
    serde_json::to_string(&config).map_err(|error| whole(format!("could not be stored: {error}")))
}

/// Runs the add-on.
pub(crate) fn process<A: Addon>(config: &str, job: &Job, input: Transcript) -> Result<Reply> {
    let config = parse_config::<A>(config).map_err(|problem| {
        let place = if problem.pointer.is_empty() { "config" } else { &problem.pointer };
        fail(400, "InvalidConfig", format!("{place} {}", problem.message))
    })?;
    let mut doc = Doc::new(input);
    let output = A::process(config, job, &mut doc)?;
    let (transcript, variants) = doc.into_parts();
    Ok(Reply { transcript, result: result_text::<A>(&output)?, variants })
}

fn result_text<A: Addon>(output: &A::Output) -> Result<Option<String>> {
    if TypeId::of::<A::Output>() == TypeId::of::<()>() {
        return Ok(None);
    }
    let text = serde_json::to_string(output).map_err(Error::from)?;
    Ok(Some(text))
}

fn parse_config<A: Addon>(text: &str) -> Result<A::Config, Problem> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| Problem { pointer: String::new(), message: format!("must be JSON: {error}") })?;
    serde_path_to_error::deserialize(value).map_err(|error| {
        let pointer = pointer_of(error.path());
        let reason = error.into_inner().to_string();
        match reason.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
            Some(field) => {
                Problem { pointer: format!("{pointer}/{}", escape(field)), message: "is required".to_owned() }
            }
            None => Problem { pointer, message: format!("must be valid: {reason}") },
        }
    })
}

fn pointer_of(path: &Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
            Segment::Map { key } => pointer.push_str(&format!("/{}", escape(key))),
            // The variant of an enum is no step of the JSON document.
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    pointer
}

/// RFC 6901, section 3.
fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Config {
        phrases: Vec<Phrase>,
        #[serde(default = "two")]
        times: u32,
    }
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Phrase {
        text: String,
    }
    fn two() -> u32 {
        2
    }

    struct Sample;
    impl Addon for Sample {
        type Config = Config;
        type Output = Vec<String>;
        const META: Meta = Meta::new("sample", "1.0.0", Slot::Analysis, "For tests");
        fn check(config: &Config, problems: &mut Problems) {
            if config.phrases.is_empty() {
                problems.add("/phrases", "must not be empty");
            }
        }
        fn process(config: Config, _job: &Job, _doc: &mut Doc) -> Result<Vec<String>> {
            Ok(config.phrases.into_iter().map(|p| p.text).collect())
        }
    }

    fn problem(config: serde_json::Value) -> (String, String) {
        let mut problems = validate_config::<Sample>(&config.to_string()).unwrap_err();
        let first = problems.remove(0);
        (first.pointer, first.message)
    }

    #[test]
    fn a_config_comes_back_with_its_defaults() {
        let stored = validate_config::<Sample>(r#"{"phrases":[{"text":"hi"}],"unknown":1}"#).unwrap();
        assert_eq!(stored, r#"{"phrases":[{"text":"hi"}],"times":2}"#);
    }

    #[test]
    fn problems_point_at_the_place() {
        let text_is_number = problem(json!({"phrases": [{"text": "a"}, {"text": 3}]}));
        assert_eq!(text_is_number.0, "/phrases/1/text");
        assert!(text_is_number.1.starts_with("must be valid: invalid type"), "{}", text_is_number.1);
        assert_eq!(problem(json!({"phrases": [{}]})), ("/phrases/0/text".into(), "is required".into()));
        assert_eq!(problem(json!({})), ("/phrases".into(), "is required".into()));
        assert_eq!(problem(json!({"phrases": []})), ("/phrases".into(), "must not be empty".into()));
    }

    #[test]
    fn text_that_is_no_json_is_named() {
        let problems = validate_config::<Sample>("{").unwrap_err();
        assert_eq!(problems[0].pointer, "");
        assert!(problems[0].message.starts_with("must be JSON"));
    }
}
