//! Whatever a client sends gets an answer.

use std::sync::LazyLock;

use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Map, Value};

use super::{AUDIO, description, rules, spec_of};
use crate::model::spec;
use crate::validate::{Catalogue, Rejection, prerecorded};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["en", "srt", AUDIO, "stt-3", "POST", "\u{0}"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any_name(), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_name() -> impl Strategy<Value = String> {
    let known =
        ["audio_url", "callback", "callback_config", "callback_url", "custom_metadata", "language_config"];
    let members =
        ["url", "languages", "vocabulary", "formats", "prompts", "target_languages", "model", "min_speakers"];
    let names: Vec<String> = known
        .iter()
        .chain(&members)
        .chain(&spec::ADDON_FLAGS)
        .chain(&spec::ADDON_CONFIG_KEYS)
        .map(|name| (*name).to_owned())
        .collect();
    prop_oneof![4 => prop::sample::select(names), 1 => ".{0,8}"]
}

/// The description of a host without add-ons.
static DESCRIPTION: LazyLock<Validator> = LazyLock::new(|| description::of(&Catalogue::default()));

proptest! {
    /// Whatever a client sends: no panic, every complaint in the agreed form, and what is
    /// accepted is accepted again when its echo is sent.
    #[test]
    fn any_object_gets_an_answer(members in prop::collection::btree_map(any_name(), any_json(), 0..12)) {
        let body: Map<String, Value> = members.into_iter().collect();
        let outcome = prerecorded(&body, &rules(), &Catalogue::default(), &[]);
        description::agrees(&DESCRIPTION, &body, &outcome);
        match outcome {
            Ok(draft) => {
                let echo = spec_of(draft).request_params;
                prop_assert!(prerecorded(&echo, &rules(), &Catalogue::default(), &[]).is_ok(), "{echo:?}");
            }
            Err(Rejection::Invalid(entries) | Rejection::Contradictory(entries)) => {
                prop_assert!(!entries.is_empty());
                for entry in entries {
                    prop_assert!(entry.contains(" must ") || entry.contains(" is required"), "{entry}");
                }
            }
        }
    }
}
