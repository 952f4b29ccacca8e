//! What the tests of validation share.

mod addons;
mod bounds;
mod description;
mod fields;
mod listing;
mod property;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{AbsentAddon, AddonFacts, Catalogue, Draft, HostRules, ModelRules, Rejection, prerecorded};
use crate::model::job::JobSpec;
use crate::model::language::Language;

const AUDIO: &str = "https://audio.example/a.wav";

fn rules() -> HostRules {
    let five = ["en", "fr", "de", "es", "it"].map(|code| Language::parse(code).unwrap());
    HostRules {
        models: vec![
            ModelRules { name: "stt-1".into(), languages: Vec::new(), code_switching: true },
            ModelRules { name: "stt-3".into(), languages: five.to_vec(), code_switching: false },
        ],
        model_aliases: BTreeMap::from([
            ("solaria-1".into(), "stt-1".into()),
            ("solaria-3".into(), "stt-3".into()),
        ]),
        allow_private_urls: false,
    }
}

fn facts(name: &str, schema: Value) -> AddonFacts {
    AddonFacts {
        name: name.into(),
        flag: name.into(),
        config_key: Some(format!("{name}_config")),
        schema,
        digest: "d".into(),
        requires: Vec::new(),
        forced: false,
        redacts: false,
    }
}

fn catalogue(addons: Vec<AddonFacts>, absent: Vec<AbsentAddon>) -> Catalogue {
    let (catalogue, refused) = Catalogue::new(addons, absent);
    assert!(refused.is_empty(), "{refused:?}");
    catalogue
}

fn check_with(catalogue: &Catalogue, mut body: Value) -> Result<Draft, Rejection> {
    let body = body.as_object_mut().unwrap();
    body.entry("audio_url").or_insert_with(|| AUDIO.into());
    let outcome = prerecorded(body, &rules(), catalogue, &["https://speech.example".into()]);
    description::agrees(&description::of(catalogue), body, &outcome);
    outcome
}

fn check(body: Value) -> Result<Draft, Rejection> {
    check_with(&Catalogue::default(), body)
}

/// The job without add-ons that normalise anything.
fn spec_of(draft: Draft) -> JobSpec {
    let configs = draft.addons().map(|(addon, _)| addon.config.clone()).collect();
    draft.finish(configs)
}

fn accepted(body: Value) -> JobSpec {
    match check(body.clone()) {
        Ok(draft) => spec_of(draft),
        Err(rejection) => panic!("{body}: {rejection:?}"),
    }
}

fn invalid(body: Value) -> Vec<String> {
    match check(body.clone()) {
        Err(Rejection::Invalid(entries)) => entries,
        other => panic!("{body}: {other:?}"),
    }
}

fn contradictory(body: Value) -> Vec<String> {
    match check(body.clone()) {
        Err(Rejection::Contradictory(entries)) => entries,
        other => panic!("{body}: {other:?}"),
    }
}

/// A request with one member of one config object set, and what that object needs besides.
fn with_member(flag: &str, member: &str, value: Value) -> Value {
    let mut config = match flag {
        "custom_vocabulary" => json!({ "vocabulary": ["a"] }),
        "translation" => json!({ "target_languages": ["fr"] }),
        "custom_spelling" => json!({ "spelling_dictionary": {} }),
        "audio_to_llm" => json!({ "prompts": ["a"] }),
        _ => json!({}),
    };
    config[member] = value;
    let mut body = Map::new();
    body.insert(flag.into(), true.into());
    body.insert(format!("{flag}_config"), config);
    body.into()
}
