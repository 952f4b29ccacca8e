//! From the bytes of a body to a JSON object.

use serde_json::{Map, Value};

use super::problems::Rejection;

/// Objects and arrays within each other. The parser takes 127, and what is stored or delivered of
/// a body stands some levels deeper there.
const MOST_LEVELS: usize = 120;

/// Reads a JSON object. Of a member that stands twice the last counts, as in the parsers that
/// clients use.
///
/// # Errors
/// [`Rejection`] with what is wrong with the text, and where.
pub fn object(bytes: &[u8]) -> Result<Map<String, Value>, Rejection> {
    let refused = |problem: String| Err(Rejection::Invalid(vec![format!("body must {problem}")]));
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(object)) => match object.values().map(levels).max() {
            Some(MOST_LEVELS..) => refused(too_deep()),
            _ => Ok(object),
        },
        Ok(_) => refused("be a JSON object".to_owned()),
        Err(error) => refused(nesting(&error).unwrap_or_else(|| {
            let (line, column) = (error.line(), error.column());
            format!(
                "be valid JSON of numbers and characters that can be kept: see line {line}, column {column}"
            )
        })),
    }
}

/// What must be, where a text was refused for its depth. The parser has a text for that and
/// nothing else.
pub(super) fn nesting(error: &serde_json::Error) -> Option<String> {
    let is_too_deep = error.to_string().starts_with("recursion limit exceeded");
    is_too_deep.then(too_deep)
}

fn too_deep() -> String {
    format!("be nested in at most {MOST_LEVELS} levels")
}

/// Objects and arrays within each other, the value itself included.
fn levels(value: &Value) -> usize {
    let deepest = match value {
        Value::Array(items) => items.iter().map(levels).max(),
        Value::Object(members) => members.values().map(levels).max(),
        _ => return 0,
    };
    1 + deepest.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_object_is_refused_with_its_place() {
        let entry = |text: &str| match object(text.as_bytes()) {
            Err(Rejection::Invalid(entries)) => entries.join("; "),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(entry("[]"), "body must be a JSON object");
        assert_eq!(
            entry("{\n  \"a\": }"),
            "body must be valid JSON of numbers and characters that can be kept: see line 2, column 8"
        );
        assert!(entry(&"{\"a\":".repeat(100)).starts_with("body must be valid JSON"));
        let nested = |levels: usize| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
        assert!(object(nested(MOST_LEVELS).as_bytes()).is_ok());
        let too_deep = "body must be nested in at most 120 levels";
        assert_eq!(entry(&nested(MOST_LEVELS + 1)), too_deep);
        assert_eq!(entry(&nested(500)), too_deep);
        assert_eq!(entry(&"{\"a\":[".repeat(1000)), too_deep);
        assert!(entry("{\"a\":1e999}").starts_with("body must be valid JSON"));
    }

    #[test]
    fn the_last_of_two_members_counts() {
        assert_eq!(object(br#"{"a":1,"a":2}"#).map(|object| object["a"].clone()), Ok(Value::from(2)));
    }
}
