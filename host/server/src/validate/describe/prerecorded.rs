//! The body of a pre-recorded request.

use serde_json::{Map, Value, json};

use super::PRERECORDED;
use super::host_fields::host_fields;
use super::schema::{adopt, described, flag, optional, reference, with_optional_members};
use super::{Catalogue, HostRules};
use crate::model::spec;
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
        let words = match is_refused {
            true => "Refused: no add-on that does this is installed.",
            false => "Ends in an error of its own in the result: no add-on that does this is installed.",
        };
        self.flag(name, described(flag(false), words));
        if let Some(schema) = spec_schemas::of(name) {
            let source = with_optional_members(schema.source().clone());
            self.config(name, &format!("{name}_config"), source, schema.has_required_members());
        }
    }

    fn flag(&mut self, name: &str, mut schema: Value) {
        if name == "custom_vocabulary" {
            schema["type"] = json!(["boolean", "null", "array"]);
            // Generators of clients stumble over a list of nothing in particular.
            schema["items"] = json!({});
            schema["description"] =
                json!("A list in this place is ignored: it belongs into custom_vocabulary_config.");
        }
        self.properties.insert(name.to_owned(), schema);
    }

    /// The config object of an add-on: it counts only while the flag is on.
    fn config(&mut self, flag: &str, key: &str, source: Value, is_required: bool) {
        let name = type_name(key);
        adopt(source, &name, &mut self.schemas);
        let words = match is_required {
            true => format!("Required when {flag} is true, and counts only then."),
            false => format!("Counts only when {flag} is true."),
        };
        self.properties.insert(key.to_owned(), optional(described(reference(&name), words)));
    }
}

/// `subtitles_config` as the name of a type: `SubtitlesConfig`. With this ending it is none of
/// the host's own types, whatever an operator's add-on calls its config.
fn type_name(key: &str) -> String {
    let capital = |part: &str| {
        let mut letters = part.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    let name: String = key.split('_').map(capital).collect();
    if name.ends_with("Config") { name } else { name + "Config" }
}
