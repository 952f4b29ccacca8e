//! Checks a config object against a JSON Schema and says what is wrong in the words of the
//! protocol: `<dotted path> must …` or `<dotted path> is required`.
//!
//! Schemas come from add-ons, which are not trusted: patterns run on an engine without
//! backtracking, and nothing is fetched.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};

use crate::model::language::Language;

/// Longest list of problems that is worked out for one object.
const MOST_PROBLEMS: usize = 20;

/// How deep alternatives within alternatives are looked into for a better message.
const ALTERNATIVE_DEPTH: u32 = 4;

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
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_format("language-code", |text: &str| text == "wo" || Language::parse(text).is_some())
            .should_validate_formats(true)
            .with_pattern_options(PatternOptions::regex())
            .build(source)
            .map_err(|error| error.masked().to_string())?;
        Ok(Self { source: source.clone(), validator, ignores_unknown })
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

    /// Everything that is wrong with `config`, each with its path below `prefix`.
    pub fn problems(&self, prefix: &str, config: &Map<String, Value>) -> Vec<String> {
        let instance = Value::Object(config.clone());
        let mut entries = Vec::new();
        for error in self.validator.iter_errors(&instance).take(MOST_PROBLEMS) {
            if !(self.ignores_unknown && is_about_unknown(error.kind())) {
                describe(prefix, &error, ALTERNATIVE_DEPTH, &mut entries);
            }
        }
        entries
    }
}

fn is_about_unknown(kind: &ValidationErrorKind) -> bool {
    matches!(
        kind,
        ValidationErrorKind::AdditionalProperties { .. } | ValidationErrorKind::UnevaluatedProperties { .. }
    )
}

fn describe(prefix: &str, error: &ValidationError<'_>, depth: u32, entries: &mut Vec<String>) {
    let path = dotted(prefix, error);
    if let ValidationErrorKind::Required { property } = error.kind() {
        entries.push(format!("{path}.{} is required", property.as_str().unwrap_or("member")));
        return;
    }
    if let ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } =
        error.kind()
        && depth > 0
        && let Some(meant) = meant_alternative(error, context)
    {
        for inner in meant {
            describe(prefix, inner, depth - 1, entries);
        }
        return;
    }
    entries.push(format!("{path} must {}", demand(error.kind())));
}

/// The one alternative whose type fits what the client sent: its problems say more than
/// "none of them fits".
fn meant_alternative<'e>(
    error: &ValidationError<'_>,
    context: &'e [Vec<ValidationError<'static>>],
) -> Option<&'e [ValidationError<'static>]> {
    let is_of_other_type = |problem: &ValidationError<'_>| {
        matches!(problem.kind(), ValidationErrorKind::Type { .. })
            && problem.instance_path().as_str() == error.instance_path().as_str()
    };
    let mut fitting = context.iter().filter(|problems| !problems.iter().any(is_of_other_type));
    let first = fitting.next()?;
    fitting.next().is_none().then_some(first.as_slice())
}

fn dotted(prefix: &str, error: &ValidationError<'_>) -> String {
    let mut path = prefix.to_owned();
    for segment in error.instance_path().segments() {
        path.push('.');
        path.extend(segment.to_string().chars().take(64));
    }
    path
}

/// What comes after "must".
fn demand(kind: &ValidationErrorKind) -> String {
    use ValidationErrorKind as Kind;
    match kind {
        Kind::Type { kind } => type_names(kind),
        Kind::Minimum { limit } => format!("not be less than {limit}"),
        Kind::Maximum { limit } => format!("not be greater than {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("be greater than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("be a multiple of {multiple_of}"),
        Kind::MinItems { limit } => format!("contain at least {limit} {}", items(*limit)),
        Kind::MaxItems { limit } => format!("contain at most {limit} {}", items(*limit)),
        Kind::MinLength { limit } => format!("not be shorter than {limit} characters"),
        Kind::MaxLength { limit } => format!("not be longer than {limit} characters"),
        Kind::MinProperties { limit } => format!("have at least {limit} members"),
        Kind::MaxProperties { limit } => format!("have at most {limit} members"),
        Kind::UniqueItems => "not contain an item twice".to_owned(),
        Kind::Enum { options } => format!("be one of {}", listed(options)),
        Kind::Constant { expected_value } => format!("be {expected_value}"),
        Kind::Pattern { pattern } => format!("match the pattern {pattern}"),
        Kind::Format { format } if format == "language-code" => "be a known language code".to_owned(),
        Kind::Format { format } => format!("be in the format {format}"),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            format!("not have the members {}", unexpected.join(", "))
        }
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => "have one of the allowed forms".to_owned(),
        other => format!("satisfy the keyword {} of the schema", other.keyword()),
    }
}

fn items(count: u64) -> &'static str {
    if count == 1 { "item" } else { "items" }
}

fn type_names(kind: &TypeKind) -> String {
    let names: Vec<String> = match kind {
        TypeKind::Single(one) => vec![one.to_string()],
        TypeKind::Multiple(several) => several.iter().map(|one| one.to_string()).collect(),
    };
    let with_article = names.iter().map(|name| match name.as_str() {
        "array" | "object" | "integer" => format!("an {name}"),
        "null" => name.clone(),
        _ => format!("a {name}"),
    });
    format!("be {}", with_article.collect::<Vec<_>>().join(" or "))
}

fn listed(options: &Value) -> String {
    let Some(options) = options.as_array() else { return options.to_string() };
    let texts = options.iter().map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned));
    texts.collect::<Vec<_>>().join(", ")
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
