//! From the bytes of a body to a JSON object.

use serde_json::{Map, Value};

use super::problems::Rejection;

/// Reads a JSON object. Of a member that stands twice the last counts, as in the parsers that
/// clients use; nesting deeper than 128 is refused by the parser.
///
/// # Errors
/// [`Rejection`] with what is wrong with the text, and where.
pub fn object(bytes: &[u8]) -> Result<Map<String, Value>, Rejection> {
    let refused = |problem: String| Err(Rejection::Invalid(vec![format!("body must be {problem}")]));
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => refused("a JSON object".to_owned()),
        Err(error) => {
            refused(format!("valid JSON: it is not at line {}, column {}", error.line(), error.column()))
        }
    }
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
        assert_eq!(entry("{\n  \"a\": }"), "body must be valid JSON: it is not at line 2, column 8");
        assert!(entry(&"{\"a\":".repeat(1000)).starts_with("body must be valid JSON"));
        assert!(entry("{\"a\":1e999}").starts_with("body must be valid JSON"));
    }

    #[test]
    fn the_last_of_two_members_counts() {
        assert_eq!(object(br#"{"a":1,"a":2}"#).map(|object| object["a"].clone()), Ok(Value::from(2)));
    }
}
