//! The bodies that have a few fields only.

use serde_json::{Value, json};

use super::schema::{described, optional, web_url};
use crate::model::event::Event;
use crate::model::id::AccountId;
use crate::validate::attached::ATTACHED_BYTES;
use crate::validate::webhook::MOST_CHARS;

pub(super) fn upload_by_url() -> Value {
    json!({
        "type": "object",
        "required": ["audio_url"],
        "properties": { "audio_url": web_url("A file elsewhere, which is copied, or one uploaded before.") },
    })
}

pub(super) fn attached() -> Value {
    let members = json!({ "type": ["object", "null"], "additionalProperties": true });
    json!({
        "type": "object",
        "description": format!("One of the two is required; together at most {ATTACHED_BYTES} bytes for a job."),
        "properties": { "post_session_metadata": members, "post_request_metadata": members },
    })
}

pub(super) fn webhook() -> Value {
    let secret = json!({ "type": "string", "minLength": 1, "maxLength": MOST_CHARS });
    let pattern = AccountId::PATTERN;
    let account =
        json!({ "type": "string", "minLength": 1, "maxLength": AccountId::MOST_CHARS, "pattern": pattern });
    let events: Vec<&str> = Event::ALL.into_iter().map(Event::name).collect();
    let events = json!({ "type": "array", "minItems": 1, "items": { "enum": events } });
    json!({
        "type": "object",
        "required": ["url"],
        "properties": {
            "url": web_url("Where messages are sent."),
            "secret": optional(described(secret, "Signs what is sent.")),
            "account": optional(described(account, "Whose jobs it hears of; without it everybody's.")),
            "events": optional(described(events, "What it hears of; without it everything.")),
        },
    })
}
