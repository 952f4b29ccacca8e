//! Small changes to JSON Schemas.

use serde_json::{Value, json};

use super::LANGUAGE_CODE;
use crate::model::language::CODES;

/// The codes of the speech model. Aliases and regional forms (`en-US`) are understood too.
pub(super) fn language_code() -> Value {
    json!({
        "type": "string",
        "enum": &CODES[..],
        "description": "ISO 639 code of a language of the speech model.",
    })
}

/// A reference to a schema of the document.
pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// An address on the web; letters of all scripts may stand in it.
pub(super) fn web_url(description: &str) -> Value {
    json!({ "type": "string", "format": "iri", "description": format!("{description} http or https.") })
}

/// A flag, which may be left out.
pub(super) fn flag(default: bool) -> Value {
    json!({ "type": ["boolean", "null"], "default": default })
}

/// The same schema with a description.
pub(super) fn described(mut schema: Value, description: impl Into<String>) -> Value {
    schema["description"] = Value::String(description.into());
    schema
}

/// The same schema for a field that may be left out.
pub(super) fn optional(mut schema: Value) -> Value {
    let has = |keyword| schema.get(keyword).is_some();
    if has("$ref") || has("format") || !(has("type") || has("enum")) {
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        let mut either = json!({ "anyOf": [schema, { "type": "null" }] });
        if let Some(description) = description {
            either["description"] = description;
        }
        return either;
    }
    if let Some(one) = schema.get("type").filter(|one| one.is_string()).cloned() {
        schema["type"] = json!([one, "null"]);
    }
    if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        values.push(Value::Null);
    }
    schema
}

/// Every member of an object that is not required may be left out, and so be null.
pub(super) fn with_optional_members(mut schema: Value) -> Value {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| required.as_array().is_some_and(|names| names.contains(&name.into()));
    for (name, member) in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        if !is_required(name) {
            *member = optional(member.take());
        }
    }
    schema
}

/// Makes a schema that stood alone part of the document under `name`: references into itself
/// lead there, and language codes are listed once for all.
pub(super) fn adopt(schema: &mut Value, name: &str) {
    match schema {
        Value::Object(members) => {
            if members.get("format").is_some_and(|format| format == "language-code") {
                *schema = reference(LANGUAGE_CODE);
                return;
            }
            members.remove("$schema");
            if let Some(Value::String(target)) = members.get_mut("$ref")
                && let Some(inside) = target.strip_prefix('#')
            {
                *target = format!("#/components/schemas/{name}{inside}");
            }
            members.values_mut().for_each(|member| adopt(member, name));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| adopt(item, name)),
        _ => {}
    }
}
