//! The body of a pre-recorded request.

use serde_json::{Map, Value, json};

use super::PRERECORDED;
use super::schema::{adopt, described, optional, reference, web_url, with_optional_members};
use super::{Catalogue, HostRules, LANGUAGE_CODE};
use crate::model::spec;
use crate::validate::language::DEFAULT_MODEL;
use crate::validate::prerecorded::METADATA_CHARS;
use crate::validate::rules::{AbsentAddon, KnownAddon};
use crate::validate::spec_schemas;

/// The request and the config objects that it refers to.
pub(super) fn schemas(rules: &HostRules, catalogue: &Catalogue) -> Map<String, Value> {
    let mut request = Request { properties: host_fields(rules), ..Request::default() };
    for addon in &catalogue.addons {
        request.loaded(addon);
    }
    for flag in spec::ADDON_FLAGS {
        if !catalogue.addons.iter().any(|addon| addon.facts.flag == flag) {
            request.absent(flag, catalogue.absent.iter().find(|absent| absent.name == flag));
        }
    }
    let body = json!({
        "type": "object",
        "required": ["audio_url"],
        "properties": request.properties,
    });
    request.schemas.insert(PRERECORDED.to_owned(), body);
    request.schemas
}

#[derive(Default)]
struct Request {
    schemas: Map<String, Value>,
    properties: Map<String, Value>,
}

impl Request {
    fn loaded(&mut self, addon: &KnownAddon) {
        let facts = &addon.facts;
        let words = match facts.forced {
            true => format!("The add-on {} is on in every job.", facts.name),
            false => format!("Switches on the add-on {}.", facts.name),
        };
        self.flag(&facts.flag, described(flag(facts.forced), words));
        if let Some(key) = &facts.config_key {
            let is_of_specification = spec::ADDON_FLAGS.contains(&facts.flag.as_str());
            let source = addon.schema.source().clone();
            let source = if is_of_specification { with_optional_members(source) } else { source };
            self.config(&facts.flag, key, source, addon.schema.has_required_members());
        }
    }

    /// A flag of the specification that no add-on of this host serves.
    fn absent(&mut self, name: &str, operator: Option<&AbsentAddon>) {
        let is_refused = name == "pii_redaction" || operator.is_some_and(|absent| absent.required);
        let schema = if is_refused {
            described(
                json!({ "enum": [false, null], "default": false }),
                "Refused: no add-on that does this is installed.",
            )
        } else {
            described(
                flag(false),
                "Ends in an error of its own in the result: no add-on that does this is installed.",
            )
        };
        self.flag(name, schema);
        if let Some(schema) = spec_schemas::of(name) {
            let source = with_optional_members(schema.source().clone());
            self.config(name, &format!("{name}_config"), source, schema.has_required_members());
        }
    }

    fn flag(&mut self, name: &str, mut schema: Value) {
        if name == "custom_vocabulary" {
            schema["type"] = json!(["boolean", "null", "array"]);
            schema["description"] =
                json!("A list in this place is ignored: it belongs into custom_vocabulary_config.");
        }
        self.properties.insert(name.to_owned(), schema);
    }

    /// The config object of an add-on: it counts only while the flag is on.
    fn config(&mut self, flag: &str, key: &str, mut source: Value, is_required: bool) {
        let name = type_name(key);
        adopt(&mut source, &name);
        self.schemas.insert(name.clone(), source);
        let words = match is_required {
            true => format!("Required when {flag} is true, and counts only then."),
            false => format!("Counts only when {flag} is true."),
        };
        self.properties.insert(key.to_owned(), optional(described(reference(&name), words)));
    }
}

/// What does not depend on add-ons.
fn host_fields(rules: &HostRules) -> Map<String, Value> {
    let mut models: Vec<&str> = rules.models.iter().map(|model| model.name.as_str()).collect();
    models.extend(rules.model_aliases.keys().map(String::as_str));
    let language_config = json!({
        "type": ["object", "null"],
        "properties": {
            "languages": {
                "type": ["array", "null"], "items": reference(LANGUAGE_CODE), "default": [],
                "description": "Exactly one: the language of the file. None or several: it is detected among them.",
            },
            "code_switching": described(flag(false), "Detects the language of every utterance."),
        },
    });
    let callback_config = json!({
        "type": ["object", "null"],
        "required": ["url"],
        "properties": {
            "url": web_url("Where the result is sent."),
            "method": { "enum": ["POST", "PUT", null], "default": "POST" },
        },
    });
    let mut legacy =
        optional(web_url("Deprecated for callback and callback_config: the result is posted there."));
    legacy["deprecated"] = Value::Bool(true);
    let fields = [
        ("audio_url", web_url("An uploaded file, or an audio or video file elsewhere.")),
        (
            "model",
            json!({ "type": ["string", "null"], "enum": models.iter().map(|name| json!(name)).chain([Value::Null]).collect::<Vec<_>>(), "default": DEFAULT_MODEL }),
        ),
        ("language_config", language_config),
        ("accurate_words_timestamps", described(flag(false), "Refines the times of words.")),
        (
            "callback",
            described(
                flag(false),
                "Sends the end of the job to the address of callback_config, which is required then.",
            ),
        ),
        ("callback_config", callback_config),
        ("callback_url", legacy),
        (
            "custom_metadata",
            json!({
                "type": ["object", "null"], "additionalProperties": true,
                "description": format!("Echoed with the job, and lists can be filtered by it; at most {METADATA_CHARS} characters of JSON."),
            }),
        ),
    ];
    fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect()
}

fn flag(default: bool) -> Value {
    json!({ "type": ["boolean", "null"], "default": default })
}

/// `subtitles_config` as the name of a type: `SubtitlesConfig`.
fn type_name(key: &str) -> String {
    let capital = |part: &str| {
        let mut letters = part.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    key.split('_').map(capital).collect()
}
