//! The config objects of the interface specification as JSON Schemas: their bounds and
//! defaults. They hold where no add-on is installed that brings a schema of its own.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::schema::Schema;
use super::spec_values::{DATA_CLASSES, PII_PRESETS, PII_TYPES};

/// The schema of the specification for the add-on behind `flag`, where it has a config.
pub(super) fn of(flag: &str) -> Option<&'static Schema> {
    static SCHEMAS: LazyLock<BTreeMap<&str, Schema>> = LazyLock::new(|| {
        let compile = |source: Value| {
            Schema::compile_ignoring_unknown(&source).expect("the schemas of this module are valid")
        };
        sources().into_iter().map(|(flag, source)| (flag, compile(source))).collect()
    });
    SCHEMAS.get(flag)
}

fn sources() -> [(&'static str, Value); 9] {
    [
        ("audio_to_llm", audio_to_llm()),
        ("custom_spelling", custom_spelling()),
        ("custom_vocabulary", custom_vocabulary()),
        ("diarization", diarization()),
        ("pii_redaction", pii_redaction()),
        ("structured_data_extraction", structured_data_extraction()),
        ("subtitles", subtitles()),
        ("summarization", summarization()),
        ("translation", translation()),
    ]
}

fn custom_vocabulary() -> Value {
    let entry = json!({
        "type": "object",
        "required": ["value"],
        "properties": {
            "value": { "type": "string" },
            "pronunciations": { "type": "array", "items": { "type": "string" } },
            "intensity": { "type": "number", "minimum": 0, "maximum": 1 },
            "language": { "type": "string", "format": "language-code" },
        },
    });
    json!({
        "type": "object",
        "required": ["vocabulary"],
        "properties": {
            "vocabulary": { "type": "array", "items": { "anyOf": [{ "type": "string" }, entry] } },
            "default_intensity": { "type": "number", "minimum": 0, "maximum": 1, "default": 0.5 },
        },
    })
}

fn subtitles() -> Value {
    json!({
        "type": "object",
        "properties": {
            "formats": {
                "type": "array", "minItems": 1, "items": { "enum": ["srt", "vtt"] }, "default": ["srt"],
            },
            "minimum_duration": { "type": "number", "minimum": 0, "maximum": 30 },
            "maximum_duration": { "type": "number", "minimum": 1, "maximum": 30 },
            "maximum_characters_per_row": { "type": "integer", "minimum": 1, "maximum": u32::MAX },
            "maximum_rows_per_caption": { "type": "integer", "minimum": 1, "maximum": 5 },
            "style": { "enum": ["default", "compliance"], "default": "default" },
        },
    })
}

fn diarization() -> Value {
    json!({
        "type": "object",
        "properties": {
            "number_of_speakers": { "type": "integer", "minimum": 1 },
            "min_speakers": { "type": "integer", "minimum": 0 },
            "max_speakers": { "type": "integer", "minimum": 0 },
        },
    })
}

fn translation() -> Value {
    json!({
        "type": "object",
        "required": ["target_languages"],
        "properties": {
            "target_languages": {
                "type": "array", "minItems": 1, "items": { "type": "string", "format": "language-code" },
            },
            "model": { "enum": ["base", "batch", "enhanced"], "default": "base" },
            "match_original_utterances": { "type": "boolean", "default": true },
            "lipsync": { "type": "boolean", "default": true },
            "context_adaptation": { "type": "boolean", "default": true },
            "context": { "type": "string" },
            "informal": { "type": "boolean", "default": false },
        },
    })
}

fn summarization() -> Value {
    json!({
        "type": "object",
        "properties": {
            "type": { "enum": ["general", "bullet_points", "concise"], "default": "general" },
        },
    })
}

fn custom_spelling() -> Value {
    json!({
        "type": "object",
        "required": ["spelling_dictionary"],
        "properties": {
            "spelling_dictionary": {
                "type": "object",
                "additionalProperties": { "type": "array", "items": { "type": "string" } },
            },
        },
    })
}

fn audio_to_llm() -> Value {
    json!({
        "type": "object",
        "required": ["prompts"],
        "properties": {
            "prompts": { "type": "array", "minItems": 1, "items": { "type": "string" } },
            "model": { "type": "string" },
        },
    })
}

fn pii_redaction() -> Value {
    let known: Vec<&str> = PII_PRESETS.into_iter().chain(PII_TYPES).collect();
    let one = json!({ "type": "string", "enum": known });
    json!({
        "type": "object",
        "properties": {
            "entity_types": { "anyOf": [one.clone(), { "type": "array", "items": one }] },
            "processed_text_type": { "enum": ["MARKER", "MASK"], "default": "MARKER" },
        },
    })
}

fn structured_data_extraction() -> Value {
    json!({
        "type": "object",
        "required": ["classes"],
        "properties": {
            "classes": { "type": "array", "minItems": 1, "items": { "enum": DATA_CLASSES } },
        },
    })
}
