//! The header `idempotency-key`: a request that carries one is made once, however often it
//! is sent.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::collection::Collection;
use super::error::ApiError;
use crate::store::RequestMark;
use crate::validate;

pub(super) const HEADER: &str = "idempotency-key";
/// Longest key.
pub(super) const MOST_CHARS: usize = 255;

/// The client's key, when it sent one.
#[derive(Debug, Clone)]
pub(super) struct IdempotencyKey(Option<Vec<u8>>);

impl IdempotencyKey {
    /// The key together with what it was put on.
    pub fn mark(&self, collection: Collection, body: &Map<String, Value>) -> Option<RequestMark> {
        let key = self.0.as_deref()?;
        let mut canonical = collection.path().to_owned();
        write_object(body, &mut canonical);
        Some(RequestMark { key_digest: digest(key), body_digest: digest(canonical.as_bytes()) })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let mut sent = parts.headers.get_all(HEADER).iter();
        let Some(key) = sent.next() else { return Ok(Self(None)) };
        let key = key.as_bytes();
        let is_valid = (1..=MOST_CHARS).contains(&key.len())
            && key.iter().all(u8::is_ascii_graphic)
            && sent.next().is_none();
        if is_valid {
            return Ok(Self(Some(key.to_vec())));
        }
        Err(ApiError::invalid_one(format!(
            "{HEADER} must be one header of 1 to {MOST_CHARS} visible ASCII characters"
        )))
    }
}

fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// JSON in one form only: members by name, no spaces, a whole number without a fraction.
fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(object) => write_object(object, text),
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Number(number) => match validate::whole(number) {
            Some(whole) => text.push_str(&whole.to_string()),
            None => text.push_str(&number.to_string()),
        },
        other => text.push_str(&other.to_string()),
    }
}

fn write_object(object: &Map<String, Value>, text: &mut String) {
    let mut members: Vec<_> = object.iter().collect();
    members.sort_by_key(|(name, _)| *name);
    text.push('{');
    for (name, member) in members {
        text.push_str(&Value::from(name.as_str()).to_string());
        text.push(':');
        write(member, text);
        text.push(',');
    }
    text.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(collection: Collection, body: &str) -> RequestMark {
        let key = IdempotencyKey(Some(b"k".to_vec()));
        key.mark(collection, &serde_json::from_str(body).unwrap()).unwrap()
    }

    #[test]
    fn only_what_a_body_says_makes_it_another_one() {
        let of = |body| mark(Collection::PreRecorded, body);
        let first = of(r#"{"a": {"x": [1, "é"], "y": null}, "b": 1.0}"#);
        assert_eq!(first, of(r#"{"b":1,"a":{"y":null,"x":[1,"\u00e9"]}}"#));
        for other in [
            r#"{"a":{"x":[1,"é"],"y":null},"b":2}"#,
            r#"{"a":{"x":["é",1],"y":null},"b":1}"#,
            r#"{"a":{"x":[1,"é"]},"b":1}"#,
            r#"{"a":{"x":[1,"é"],"y":"null"},"b":1}"#,
            r#"{"a":{"x":[1,"é"],"y":null},"b":"1"}"#,
            r#"{"a":{"x":[1,"é"],"y":null},"b":1.5}"#,
        ] {
            assert_eq!(of(other).key_digest, first.key_digest);
            assert_ne!(of(other).body_digest, first.body_digest, "{other}");
        }
        assert_ne!(mark(Collection::Transcription, r#"{"b":1}"#), of(r#"{"b":1}"#));
        assert_eq!(IdempotencyKey(None).mark(Collection::PreRecorded, &Map::new()), None);
    }
}
