//! Violations of a JSON Schema in the words of the protocol: `<dotted path> must …` or
//! `<dotted path> is required`.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

/// How deep alternatives within alternatives are looked into for a better message.
const ALTERNATIVE_DEPTH: u32 = 4;

/// Adds what is wrong, with its path below `prefix`.
pub(super) fn describe(prefix: &str, error: &ValidationError<'_>, entries: &mut Vec<String>) {
    describe_within(prefix, error, ALTERNATIVE_DEPTH, entries);
}

fn describe_within(prefix: &str, error: &ValidationError<'_>, depth: u32, entries: &mut Vec<String>) {
    let path = dotted(prefix, error);
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            entries.push(format!("{path}.{} is required", property.as_str().unwrap_or("member")));
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }
            if depth > 0 =>
        {
            if let Some(values) = choices(context) {
                entries.push(format!("{path} must be one of {}", listed(&values)));
            } else if let Some(meant) = meant_alternative(error, context) {
                meant.iter().for_each(|inner| describe_within(prefix, inner, depth - 1, entries));
            } else {
                entries.push(format!("{path} must {}", demand(error.kind())));
            }
        }
        kind => entries.push(format!("{path} must {}", demand(kind))),
    }
}

/// The values that are allowed, where each alternative is one value: schemas write
/// enumerations so whose values have descriptions.
fn choices(context: &[Vec<ValidationError<'static>>]) -> Option<Value> {
    let expected = |problem: &ValidationError<'static>| match problem.kind() {
        ValidationErrorKind::Constant { expected_value } => Some(Value::clone(expected_value)),
        _ => None,
    };
    context.iter().map(|problems| problems.iter().find_map(expected)).collect()
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
        let segment = segment.to_string();
        path.push('.');
        path.extend(if segment.is_empty() { "\"\"" } else { &segment }.chars().take(64));
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
