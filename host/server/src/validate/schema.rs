//! Checks a config object against a JSON Schema.
//!
//! Schemas come from add-ons, which are not trusted: patterns run on an engine without
//! backtracking, and nothing is fetched.

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::{Map, Value};

use super::wording;
use crate::model::language::Language;

/// Longest list of problems that is worked out for one object.
const MOST_PROBLEMS: usize = 20;

/// Values in a config object of which every problem is worked out; of more than that those that
/// come first in long lists. A problem takes about two kilobytes, and all of them exist before one
/// is looked at.
const MOST_VALUES: usize = 1000;

/// Items of each list, and members of each object, that are looked at first in a larger config.
const FIRST_ITEMS: usize = 30;

/// A JSON Schema (2020-12), ready to check with.
#[derive(Debug)]
pub struct Schema {
    source: Value,
    validator: Validator,
    ignores_unknown: bool,
}

impl Schema {
    /// The schema of an add-on of the operator's own: unknown members are its business.
    ///
    /// # Errors
    /// What is wrong with the schema.
    pub fn compile(source: &Value) -> Result<Self, String> {
        Self::build(source, false)
    }

    /// The schema of a field of the specification: clients of this wire format send members
    /// that nobody reads, and those are dropped.
    pub(super) fn compile_ignoring_unknown(source: &Value) -> Result<Self, String> {
        Self::build(source, true)
    }

    fn build(source: &Value, ignores_unknown: bool) -> Result<Self, String> {
        let lenient = ignores_unknown.then(|| without_refusals(source));
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_format("language-code", |text: &str| text == "wo" || Language::parse(text).is_some())
            .should_validate_formats(true)
            .with_pattern_options(PatternOptions::regex())
            .build(lenient.as_ref().unwrap_or(source))
            .map_err(|error| error.masked().to_string())?;
        Ok(Self { source: source.clone(), validator, ignores_unknown })
    }

    /// The schema as it was given.
    pub(super) fn source(&self) -> &Value {
        &self.source
    }

    /// Whether an empty object lacks something.
    pub fn has_required_members(&self) -> bool {
        self.source.get("required").and_then(Value::as_array).is_some_and(|names| !names.is_empty())
    }

    /// What the add-on gets to see of a config object.
    pub(super) fn relevant(&self, config: &Map<String, Value>) -> Map<String, Value> {
        if !self.ignores_unknown {
            return config.clone();
        }
        let known = self.source.get("properties").and_then(Value::as_object);
        let is_known = |name: &str| known.is_none_or(|known| known.contains_key(name));
        let kept = config.iter().filter(|(name, value)| is_known(name) && !value.is_null());
        kept.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Puts the defaults that the schema names into members that are absent.
    pub(super) fn fill_defaults(&self, config: &mut Map<String, Value>) {
        let Some(properties) = self.source.get("properties").and_then(Value::as_object) else { return };
        for (name, property) in properties {
            if let Some(default) = property.get("default").filter(|_| !config.contains_key(name)) {
                config.insert(name.clone(), default.clone());
            }
        }
    }

    /// What is wrong with `config`, each with its path below `prefix`.
    pub fn problems(&self, prefix: &str, config: &Map<String, Value>) -> Vec<String> {
        let instance = Value::Object(config.clone());
        let mut entries = Vec::new();
        if self.validator.is_valid(&instance) {
            return entries;
        }
        let instance = if values(&instance) > MOST_VALUES { self.first_fault(instance) } else { instance };
        for error in self.validator.iter_errors(&instance).take(MOST_PROBLEMS) {
            wording::describe(prefix, &error, &mut entries);
        }
        entries.truncate(MOST_PROBLEMS);
        entries
    }

    /// The shortest beginning of all lists within `instance`, which is not valid, that is not valid
    /// either: with one item less it was, so that it has few problems.
    fn first_fault(&self, instance: Value) -> Value {
        let is_valid = |count: usize| self.validator.is_valid(&beginning(&instance, count));
        let (mut good, mut bad) = (0, FIRST_ITEMS);
        let longest = longest(&instance);
        while bad < longest && is_valid(bad) {
            (good, bad) = (bad, bad * 2);
        }
        while good >= FIRST_ITEMS && bad - good > 1 {
            let middle = good.midpoint(bad);
            *if is_valid(middle) { &mut good } else { &mut bad } = middle;
        }
        beginning(&instance, bad)
    }
}

/// Every list and object with its first `count` items only.
fn beginning(value: &Value, count: usize) -> Value {
    match value {
        Value::Array(items) => items.iter().take(count).map(|item| beginning(item, count)).collect(),
        Value::Object(members) => {
            let first = members.iter().take(count);
            first.map(|(name, member)| (name.clone(), beginning(member, count))).collect()
        }
        plain => plain.clone(),
    }
}

/// Items of the longest list or object.
fn longest(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(longest).max().unwrap_or(0).max(items.len()),
        Value::Object(members) => members.values().map(longest).max().unwrap_or(0).max(members.len()),
        _ => 0,
    }
}

/// Values within a value, itself included.
fn values(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(values).sum(),
        Value::Object(members) => members.values().map(values).sum(),
        _ => 0,
    }
}

/// The schema without what refuses members that it does not name.
fn without_refusals(schema: &Value) -> Value {
    match schema {
        Value::Object(keywords) => {
            let refuses = |keyword: &str, value: &Value| {
                matches!(keyword, "additionalProperties" | "unevaluatedProperties") && *value == false
            };
            let kept = keywords.iter().filter(|(keyword, value)| !refuses(keyword, value));
            kept.map(|(keyword, value)| (keyword.clone(), lenient_keyword(keyword, value))).collect()
        }
        other => other.clone(),
    }
}

fn lenient_keyword(keyword: &str, value: &Value) -> Value {
    match (keyword, value) {
        // What they hold is data.
        ("const" | "default" | "enum" | "examples", _) => value.clone(),
        ("properties" | "patternProperties" | "dependentSchemas" | "$defs", Value::Object(schemas)) => {
            schemas.iter().map(|(name, schema)| (name.clone(), without_refusals(schema))).collect()
        }
        (_, Value::Array(schemas)) => schemas.iter().map(without_refusals).collect(),
        _ => without_refusals(value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problems(schema: Value, config: Value) -> Vec<String> {
        let schema = Schema::compile(&schema).unwrap();
        schema.problems("a_config", config.as_object().unwrap())
    }

    #[test]
    fn each_keyword_has_its_sentence() {
        let one = |schema: Value, value: Value| {
            problems(json!({ "properties": { "x": schema } }), json!({ "x": value })).join("; ")
        };
        for (schema, value, expected) in [
            (json!({"type": "string"}), json!(1), "a_config.x must be a string"),
            (json!({"type": ["string", "array"]}), json!(1), "a_config.x must be a string or an array"),
            (json!({"type": "integer"}), json!(1.5), "a_config.x must be an integer"),
            (json!({"minimum": 1}), json!(0), "a_config.x must not be less than 1"),
            (json!({"maximum": 30}), json!(31), "a_config.x must not be greater than 30"),
            (json!({"exclusiveMinimum": 0}), json!(0), "a_config.x must be greater than 0"),
            (json!({"minItems": 1}), json!([]), "a_config.x must contain at least 1 item"),
            (json!({"enum": ["srt", "vtt"]}), json!("txt"), "a_config.x must be one of srt, vtt"),
            (
                json!({"oneOf": [{"const": "srt", "type": "string"}, {"const": "vtt", "type": "string"}]}),
                json!("txt"),
                "a_config.x must be one of srt, vtt",
            ),
            (json!({"maxLength": 2}), json!("abc"), "a_config.x must not be longer than 2 characters"),
            (json!({"required": ["y"]}), json!({}), "a_config.x.y is required"),
            (json!({"items": {"type": "string"}}), json!(["a", 2]), "a_config.x.1 must be a string"),
            (json!({"pattern": "^a+$"}), json!("b"), "a_config.x must match the pattern ^a+$"),
        ] {
            assert_eq!(one(schema, value), expected);
        }
    }

    #[test]
    fn the_alternative_that_was_meant_is_the_one_explained() {
        let item = json!({"anyOf": [
            {"type": "string"},
            {"type": "object", "required": ["value"], "properties": {"intensity": {"maximum": 1}}},
        ]});
        let schema = json!({ "properties": { "v": { "items": item } } });
        assert_eq!(
            problems(schema.clone(), json!({"v": [{"intensity": 2}]})),
            ["a_config.v.0.value is required", "a_config.v.0.intensity must not be greater than 1"]
        );
        assert_eq!(problems(schema, json!({"v": [7]})), ["a_config.v.0 must have one of the allowed forms"]);
    }

    #[test]
    fn unknown_members_are_refused_by_custom_schemas_and_dropped_by_others() {
        let source = json!({"additionalProperties": false, "properties": {"x": {}}});
        let config = json!({"x": 1, "y": 2});
        let config = config.as_object().unwrap();
        let strict = Schema::compile(&source).unwrap();
        assert_eq!(strict.problems("c", config), ["c must not have the members y"]);
        assert_eq!(strict.relevant(config).len(), 2);
        let lenient = Schema::compile_ignoring_unknown(&source).unwrap();
        assert!(lenient.problems("c", config).is_empty());
        assert_eq!(lenient.relevant(config), *json!({"x": 1}).as_object().unwrap());
    }

    #[test]
    fn unknown_members_are_dropped_wherever_they_stand() {
        let item = json!({"anyOf": [
            {"type": "string"},
            {"type": "object", "additionalProperties": false, "properties": {"value": {"type": "string"}}},
        ]});
        let source = json!({"properties": {
            "v": {"items": item},
            "additionalProperties": {"enum": [{"additionalProperties": false}]},
        }});
        let schema = Schema::compile_ignoring_unknown(&source).unwrap();
        let problems = |config: Value| schema.problems("c", config.as_object().unwrap());
        assert!(problems(json!({"v": ["a", {"value": "b", "more": 1}]})).is_empty());
        assert_eq!(problems(json!({"v": [{"value": 1, "more": 1}]})), ["c.v.0.value must be a string"]);
        assert!(problems(json!({"additionalProperties": {"additionalProperties": false}})).is_empty());
        assert_eq!(problems(json!({"additionalProperties": {}})).len(), 1);
    }

    #[test]
    fn of_a_large_object_the_first_problems_are_told() {
        let list = json!({"type": "array", "maxItems": 10_000, "items": {"type": "string"}});
        let either = json!({"anyOf": [{"type": "string"}, list]});
        let schema = Schema::compile(&json!({"properties": {"x": list, "y": either}})).unwrap();
        let problems = |config: Value| schema.problems("c", config.as_object().unwrap());
        for name in ["x", "y"] {
            assert_eq!(problems(json!({name: vec![0; 500]})).len(), MOST_PROBLEMS);
            assert_eq!(problems(json!({name: vec![0; 9_000]})).len(), MOST_PROBLEMS);
            let mut late = vec![json!("a"); 5_000];
            late.extend([json!(1), json!("b"), json!(2)]);
            assert_eq!(problems(json!({name: late})), [format!("c.{name}.5000 must be a string")]);
            let many = vec!["a"; 10_001];
            assert_eq!(problems(json!({name: many})), [format!("c.{name} must contain at most 10000 items")]);
            assert!(problems(json!({name: many[1..]})).is_empty());
        }
    }

    #[test]
    fn schemas_that_cannot_be_used_are_refused() {
        for source in
            [json!({"type": 5}), json!({"pattern": "(?=a)"}), json!({"$ref": "https://a.example/s"})]
        {
            assert!(Schema::compile(&source).is_err(), "{source}");
        }
    }

    #[test]
    fn a_pattern_made_to_backtrack_does_not() {
        let schema = Schema::compile(&json!({"properties": {"x": {"pattern": "^(a+)+$"}}})).unwrap();
        let config = json!({ "x": format!("{}b", "a".repeat(100_000)) });
        assert_eq!(schema.problems("c", config.as_object().unwrap()).len(), 1);
    }
}
