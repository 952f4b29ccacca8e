//! The fields of a pre-recorded request that do not depend on add-ons.

use serde_json::{Map, Value, json};

use super::schema::{described, flag, optional, reference, web_url};
use super::{HostRules, LANGUAGE_CODE};
use crate::validate::language::DEFAULT_MODEL;
use crate::validate::prerecorded::METADATA_CHARS;

pub(super) fn host_fields(rules: &HostRules) -> Map<String, Value> {
    let callback = "Sends the end of the job to the address of callback_config, which is required then.";
    let fields = [
        ("audio_url", web_url("An uploaded file, or an audio or video file elsewhere.")),
        ("model", model(rules)),
        ("language_config", language_config()),
        ("accurate_words_timestamps", described(flag(false), "Refines the times of words.")),
        ("callback", described(flag(false), callback)),
        ("callback_config", callback_config()),
        ("callback_url", callback_url()),
        ("custom_metadata", custom_metadata()),
    ];
    fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect()
}

fn model(rules: &HostRules) -> Value {
    let names = rules.models.iter().map(|model| &model.name).chain(rules.model_aliases.keys());
    let names: Vec<&String> = names.collect();
    let mut model = optional(json!({ "type": "string", "enum": names }));
    model["default"] = json!(DEFAULT_MODEL);
    model
}

fn language_config() -> Value {
    let words = "Exactly one: the language of the file. None or several: it is detected among them.";
    let mut languages = json!({ "type": "array", "items": reference(LANGUAGE_CODE), "default": [] });
    languages = optional(described(languages, words));
    let code_switching = described(flag(false), "Detects the language of every utterance.");
    let members = json!({ "languages": languages, "code_switching": code_switching });
    optional(json!({ "type": "object", "properties": members }))
}

fn callback_config() -> Value {
    let mut method = optional(json!({ "type": "string", "enum": ["POST", "PUT"] }));
    method["default"] = json!("POST");
    let members = json!({ "url": web_url("Where the result is sent."), "method": method });
    optional(json!({ "type": "object", "required": ["url"], "properties": members }))
}

fn callback_url() -> Value {
    let words = "The result is posted there; callback and callback_config take the place of this field.";
    let mut url = optional(web_url(words));
    url["deprecated"] = json!(true);
    url
}

fn custom_metadata() -> Value {
    let words = "Echoed with the job, and lists can be filtered by it";
    let schema = json!({ "type": "object", "additionalProperties": true });
    optional(described(schema, format!("{words}; at most {METADATA_CHARS} characters of JSON.")))
}
