//! The description of requests against the checks themselves: each body of these tests goes
//! through both.

use jsonschema::{Draft as Dialect, Validator};
use serde_json::{Map, Value, json};
use url::Url;

use super::{catalogue, facts, rules};
use crate::model::language::Language;
use crate::validate::{Catalogue, Draft, PRERECORDED, Rejection, request_schemas};

/// The schema of a request, ready to check with.
pub(super) fn of(catalogue: &Catalogue) -> Validator {
    let document = json!({
        "$ref": format!("#/components/schemas/{PRERECORDED}"),
        "components": { "schemas": request_schemas(&rules(), catalogue) },
    });
    jsonschema::options().with_draft(Dialect::Draft202012).build(&document).unwrap()
}

/// Fails when the description promises what is refused, or forbids what is accepted.
pub(super) fn agrees(description: &Validator, body: &Map<String, Value>, outcome: &Result<Draft, Rejection>) {
    let body = Value::Object(as_described(body));
    let complaint = description.iter_errors(&body).next().map(|error| error.to_string());
    match (outcome, complaint) {
        (Ok(_), Some(complaint)) => panic!("{body} is accepted, and its description says {complaint}"),
        (Err(Rejection::Invalid(entries)), None) => {
            let unsaid: Vec<&String> = entries.iter().filter(|entry| !is_beyond_schemas(entry)).collect();
            assert!(unsaid.is_empty(), "{body} fits its description, and is refused for {unsaid:?}");
        }
        _ => {}
    }
}

/// What the description says in words: where an address leads, and how long JSON is.
fn is_beyond_schemas(entry: &str) -> bool {
    entry.starts_with("custom_metadata must not be longer") || entry.contains("url must ")
}

/// The body in canonical spelling, without the configs that do not count.
fn as_described(body: &Map<String, Value>) -> Map<String, Value> {
    let counts = |name: &str, value: &Value| match name.strip_suffix("_config") {
        Some(flag) if flag != "language" => !value.is_object() || body.get(flag) == Some(&Value::Bool(true)),
        _ => true,
    };
    let kept = body.iter().filter(|(name, value)| counts(name, value));
    kept.map(|(name, value)| (name.clone(), canonical(value))).collect()
}

fn canonical(value: &Value) -> Value {
    match value {
        Value::String(text) if text == "wo" => "en".into(),
        Value::String(text) => match (Language::parse(text), Url::parse(text)) {
            (Some(language), _) => language.code().into(),
            (None, Ok(url)) => url.as_str().into(),
            (None, Err(_)) => text.as_str().into(),
        },
        Value::Array(items) => items.iter().map(canonical).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), canonical(value))).collect()
        }
        other => other.clone(),
    }
}

#[test]
fn addons_of_the_operator_are_described_with_their_schemas() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Config",
        "type": "object",
        "required": ["tone"],
        "properties": { "tone": { "$ref": "#/$defs/Tone" }, "to": { "type": "string", "format": "language-code" } },
        "$defs": { "Tone": { "enum": ["soft", "loud"] } },
    });
    let schemas = request_schemas(&rules(), &catalogue(vec![facts("shout_out", schema)], Vec::new()));
    let request = &schemas[PRERECORDED]["properties"];
    assert_eq!(request["shout_out"]["type"], json!(["boolean", "null"]));
    assert_eq!(request["shout_out_config"]["anyOf"][0]["$ref"], "#/components/schemas/ShoutOutConfig");
    let config = &schemas["ShoutOutConfig"];
    assert_eq!(config["properties"]["tone"]["$ref"], "#/components/schemas/ShoutOutConfigTone");
    assert_eq!(schemas["ShoutOutConfigTone"], json!({ "enum": ["soft", "loud"] }));
    assert_eq!(config["properties"]["to"]["$ref"], "#/components/schemas/LanguageCode");
    assert_eq!([config.get("$schema"), config.get("title"), config.get("$defs")], [None; 3]);
}

#[test]
fn what_may_be_left_out_may_be_null() {
    let schema = json!({ "required": ["tone"], "properties": { "tone": { "type": "string" } } });
    let description = of(&catalogue(vec![facts("shout", schema)], Vec::new()));
    let audio = "https://audio.example/a.wav";
    for (fits, body) in [
        (true, json!({ "audio_url": audio, "shout": false })),
        (true, json!({ "audio_url": audio, "shout": true, "shout_config": { "tone": "a" } })),
        (true, json!({ "audio_url": audio, "unheard_of": 1, "subtitles": null, "callback_url": null })),
        (true, json!({ "audio_url": audio, "subtitles_config": { "style": null } })),
        (false, json!({ "audio_url": audio, "shout": 1 })),
        (false, json!({ "audio_url": audio, "shout": true, "shout_config": { "tone": null } })),
        (false, json!({ "audio_url": audio, "callback": true, "callback_config": {} })),
        (false, json!({ "audio_url": null })),
    ] {
        assert_eq!(description.is_valid(&body), fits, "{body}");
    }
}
