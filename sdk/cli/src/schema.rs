//! JSON Schemas of add-ons, read as the service reads them.

use anyhow::{Context, anyhow};
use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

/// A schema (2020-12) from its text; patterns run on an engine without backtracking.
pub(crate) fn compile(text: &str) -> anyhow::Result<Validator> {
    let schema: Value = serde_json::from_str(text).context("it is no JSON")?;
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .with_pattern_options(PatternOptions::regex())
        .build(&schema)
        .map_err(|error| anyhow!("it is no valid JSON Schema: {error}"))
}

/// What is wrong with a config: a dotted path below `key` and a sentence each.
pub(crate) fn problems(schema: &Validator, key: &str, config: &Value) -> Vec<String> {
    let errors = schema.iter_errors(config);
    errors.map(|error| format!("{}: {error}", dotted(key, error.instance_path().as_str()))).collect()
}

/// The request's path of a JSON Pointer: `("a_config", "/phrases/0")` is `a_config.phrases.0`.
pub(crate) fn dotted(key: &str, pointer: &str) -> String {
    format!("{key}{}", pointer.replace('/', ".").replace("~1", "/").replace("~0", "~"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn bounds_are_checked_and_paths_are_dotted() {
        let text = json!({"type": "object", "required": ["n"],
                          "properties": {"n": {"type": "array", "items": {"maximum": 3}}}});
        let schema = compile(&text.to_string()).unwrap();
        assert!(problems(&schema, "x_config", &json!({"n": [1, 3]})).is_empty());
        let wrong = problems(&schema, "x_config", &json!({"n": [1, 7]}));
        assert_eq!(wrong.len(), 1);
        assert!(wrong[0].starts_with("x_config.n.1: "), "{}", wrong[0]);
        assert_eq!(problems(&schema, "x_config", &json!({})).len(), 1);
    }

    #[test]
    fn a_schema_that_is_none_is_refused() {
        assert!(compile("{").is_err());
        assert!(compile(r#"{"type": "thing"}"#).unwrap_err().to_string().contains("no valid JSON Schema"));
    }

    #[test]
    fn pointers_are_unescaped() {
        assert_eq!(dotted("c", "/a~1b/m~0n"), "c.a/b.m~n");
    }
}
