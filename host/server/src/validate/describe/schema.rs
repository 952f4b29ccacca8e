//! Small changes to JSON Schemas.

use serde_json::{Map, Value, json};

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

/// Makes a schema that stood alone part of the document under `name`, and its definitions
/// under names of their own: generators of clients find them nowhere else.
pub(super) fn adopt(mut schema: Value, name: &str, schemas: &mut Map<String, Value>) {
    let members = schema.as_object_mut();
    let definitions = members.and_then(|members| members.remove("$defs")).unwrap_or_default();
    let parts = definitions.as_object().into_iter().flatten();
    let parts = parts.map(|(part, schema)| (format!("{name}{part}"), schema.clone()));
    for (title, mut schema) in parts.chain([(name.to_owned(), schema)]) {
        if let Some(members) = schema.as_object_mut() {
            // What the author's types are called means nothing beside those of others.
            members.retain(|keyword, _| keyword != "$schema" && keyword != "title");
        }
        lead_into_document(&mut schema, name);
        schemas.insert(title, schema);
    }
}

/// Turns references around, and lists language codes once for all.
fn lead_into_document(schema: &mut Value, name: &str) {
    match schema {
        Value::Object(members) => {
            if members.get("format").is_some_and(|format| format == "language-code") {
                *schema = reference(LANGUAGE_CODE);
                return;
            }
            if let Some(Value::String(target)) = members.get_mut("$ref") {
                let part = target.strip_prefix("#/$defs/").or(target.strip_prefix('#'));
                if let Some(part) = part {
                    *target = format!("#/components/schemas/{name}{part}");
                }
            }
            members.values_mut().for_each(|member| lead_into_document(member, name));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| lead_into_document(item, name)),
        _ => {}
    }
}
