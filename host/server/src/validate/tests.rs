//! Every bound of the specification's tables: at it, below it, above it.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{AbsentAddon, AddonFacts, Catalogue, Draft, HostRules, ModelRules, Rejection, prerecorded};
use crate::model::job::{AudioSource, CallbackMethod, JobSpec};
use crate::model::language::Language;
use crate::model::spec;

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
    prerecorded(body, &rules(), catalogue, &["https://speech.example".into()])
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

#[test]
fn bounds_of_config_objects_hold_at_below_and_above() {
    let good = [
        ("custom_vocabulary", "default_intensity", json!([0, 0.5, 1])),
        ("custom_vocabulary", "vocabulary", json!([[], ["a"], [{"value": "a", "intensity": 0}]])),
        ("subtitles", "formats", json!([["srt"], ["vtt", "srt"]])),
        ("subtitles", "minimum_duration", json!([0, 0.1])),
        ("subtitles", "maximum_duration", json!([1, 7.5, 30])),
        ("subtitles", "maximum_characters_per_row", json!([1, 42])),
        ("subtitles", "maximum_rows_per_caption", json!([1, 5])),
        ("subtitles", "style", json!(["default", "compliance"])),
        ("diarization", "number_of_speakers", json!([1, 9])),
        ("diarization", "min_speakers", json!([0, 1])),
        ("diarization", "max_speakers", json!([0, 1])),
        ("translation", "target_languages", json!([["fr"], ["wo", "pt-BR"]])),
        ("translation", "model", json!(["base", "batch", "enhanced"])),
        ("translation", "informal", json!([true, false])),
        ("summarization", "type", json!(["general", "bullet_points", "concise"])),
        ("custom_spelling", "spelling_dictionary", json!([{}, {"Ann": ["an", "anne"]}])),
        ("audio_to_llm", "prompts", json!([["one"], ["one", "two"]])),
        ("audio_to_llm", "model", json!(["provider/model"])),
    ];
    for (flag, member, values) in good {
        for value in values.as_array().unwrap() {
            accepted(with_member(flag, member, value.clone()));
        }
    }
    let bad = [
        ("custom_vocabulary", "default_intensity", json!(-0.01), "must not be less than 0"),
        ("custom_vocabulary", "default_intensity", json!(1.01), "must not be greater than 1"),
        ("custom_vocabulary", "vocabulary", json!("a"), "must be an array"),
        ("subtitles", "formats", json!([]), "must contain at least 1 item"),
        ("subtitles", "formats", json!("srt"), "must be an array"),
        ("subtitles", "minimum_duration", json!(-0.1), "must not be less than 0"),
        ("subtitles", "maximum_duration", json!(0.99), "must not be less than 1"),
        ("subtitles", "maximum_duration", json!(30.01), "must not be greater than 30"),
        ("subtitles", "maximum_duration", json!("7"), "must be a number"),
        ("subtitles", "maximum_characters_per_row", json!(0), "must not be less than 1"),
        ("subtitles", "maximum_characters_per_row", json!(1.5), "must be an integer"),
        ("subtitles", "maximum_rows_per_caption", json!(0), "must not be less than 1"),
        ("subtitles", "maximum_rows_per_caption", json!(6), "must not be greater than 5"),
        ("subtitles", "style", json!("loud"), "must be one of default, compliance"),
        ("diarization", "number_of_speakers", json!(0), "must not be less than 1"),
        ("diarization", "min_speakers", json!(-1), "must not be less than 0"),
        ("diarization", "max_speakers", json!(-1), "must not be less than 0"),
        ("translation", "target_languages", json!([]), "must contain at least 1 item"),
        ("translation", "model", json!("fast"), "must be one of base, batch, enhanced"),
        ("translation", "lipsync", json!("yes"), "must be a boolean"),
        ("translation", "context", json!(1), "must be a string"),
        ("summarization", "type", json!("short"), "must be one of general, bullet_points, concise"),
        ("custom_spelling", "spelling_dictionary", json!([]), "must be an object"),
        ("audio_to_llm", "prompts", json!([]), "must contain at least 1 item"),
        ("audio_to_llm", "model", json!(1), "must be a string"),
        ("pii_redaction", "processed_text_type", json!("HIDE"), "must be one of MARKER, MASK"),
    ];
    for (flag, member, value, demand) in bad {
        let entries = invalid(with_member(flag, member, value));
        assert_eq!(entries, [format!("{flag}_config.{member} {demand}")]);
    }
}

#[test]
fn paths_lead_into_lists_and_dictionaries() {
    for (flag, member, value, entry) in [
        ("subtitles", "formats", json!(["srt", "txt"]), "subtitles_config.formats.1 must be one of srt, vtt"),
        (
            "translation",
            "target_languages",
            json!(["xx"]),
            "translation_config.target_languages.0 must be a known language code",
        ),
        (
            "custom_vocabulary",
            "vocabulary",
            json!([{"intensity": 0.5}]),
            "custom_vocabulary_config.vocabulary.0.value is required",
        ),
        (
            "custom_vocabulary",
            "vocabulary",
            json!(["a", {"value": "b", "intensity": 2}]),
            "custom_vocabulary_config.vocabulary.1.intensity must not be greater than 1",
        ),
        (
            "custom_spelling",
            "spelling_dictionary",
            json!({"Ann": "an"}),
            "custom_spelling_config.spelling_dictionary.Ann must be an array",
        ),
        ("audio_to_llm", "prompts", json!(["a", 1]), "audio_to_llm_config.prompts.1 must be a string"),
    ] {
        assert_eq!(invalid(with_member(flag, member, value)), [entry]);
    }
}

#[test]
fn required_members_are_named_and_a_missing_config_is_a_contradiction() {
    for (flag, member) in [
        ("custom_vocabulary", "vocabulary"),
        ("translation", "target_languages"),
        ("custom_spelling", "spelling_dictionary"),
        ("audio_to_llm", "prompts"),
    ] {
        let key = format!("{flag}_config");
        assert_eq!(contradictory(json!({ flag: true })), [format!("{key} is required when {flag} is true")]);
        assert_eq!(invalid(json!({ flag: true, key.clone(): {} })), [format!("{key}.{member} is required")]);
        assert_eq!(invalid(json!({ flag: true, key.clone(): [] })), [format!("{key} must be an object")]);
        // Without its flag only the type counts.
        accepted(json!({ key.clone(): {} }));
        assert_eq!(invalid(json!({ key.clone(): "x" })), [format!("{key} must be an object")]);
    }
}

#[test]
fn every_flag_is_a_boolean_and_absent_or_null_means_off() {
    let host_flags = ["callback", "accurate_words_timestamps"];
    for flag in spec::ADDON_FLAGS.into_iter().chain(host_flags) {
        assert_eq!(invalid(json!({ flag: "true" })), [format!("{flag} must be a boolean")]);
        assert_eq!(invalid(json!({ flag: 1 })), [format!("{flag} must be a boolean")]);
        for value in [json!(null), json!(false)] {
            assert_eq!(accepted(json!({ flag: value })).request_params[flag], json!(false));
        }
        assert_eq!(accepted(json!({})).request_params[flag], json!(false));
    }
}

#[test]
fn the_audio_url_is_required_and_must_be_one() {
    let without = |value: Option<Value>| {
        let mut body = Map::new();
        body.extend(value.map(|value| ("audio_url".to_owned(), value)));
        match prerecorded(&body, &rules(), &Catalogue::default(), &[]) {
            Err(Rejection::Invalid(entries)) => entries,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(without(None), ["audio_url is required"]);
    assert_eq!(without(Some(Value::Null)), ["audio_url is required"]);
    assert_eq!(without(Some(json!(["a"]))), ["audio_url must be a string"]);
    for url in
        ["", "a.wav", "/file/a", "ftp://a.example/a.wav", "file:///etc/passwd", "http://", "data:audio/wav,x"]
    {
        assert_eq!(
            without(Some(url.into())),
            ["audio_url must be a URL that begins with http:// or https://"],
            "{url}"
        );
    }
}

#[test]
fn files_of_ours_are_recognised_on_our_origins_only() {
    let id = "6c09f2ab-9a4e-4c8c-8a34-3d6f0a1b2c3d";
    let source = |url: String| accepted(json!({ "audio_url": url })).audio;
    for url in [format!("https://speech.example/file/{id}"), format!("https://SPEECH.example:443/file/{id}/")]
    {
        assert!(
            matches!(source(url.clone()), AudioSource::Stored(found) if found.to_string() == id),
            "{url}"
        );
    }
    for url in [
        format!("https://other.example/file/{id}"),
        format!("http://speech.example/file/{id}"),
        "https://speech.example/file/nothing".to_owned(),
        format!("https://speech.example/files/{id}"),
    ] {
        assert_eq!(source(url.clone()), AudioSource::Url(url));
    }
}

#[test]
fn models_go_by_their_aliases_and_are_echoed_as_sent() {
    for (sent, name) in
        [("stt-1", "stt-1"), ("stt-3", "stt-3"), ("solaria-1", "stt-1"), ("solaria-3", "stt-3")]
    {
        let spec = accepted(json!({ "model": sent }));
        assert_eq!((spec.model.as_str(), &spec.request_params["model"]), (name, &json!(sent)));
    }
    assert_eq!(accepted(json!({})).request_params["model"], json!("stt-1"));
    assert_eq!(invalid(json!({ "model": "solaria-fusion" })), ["model must be one of stt-1, stt-3"]);
    assert_eq!(invalid(json!({ "model": 3 })), ["model must be a string"]);
}

#[test]
fn stt_3_neither_switches_nor_leaves_its_five_languages() {
    let with = |languages: Value, code_switching: bool| json!({ "model": "stt-3", "language_config": { "languages": languages, "code_switching": code_switching } });
    for languages in [json!([]), json!(["en"]), json!(["en", "fr", "de", "es", "it"])] {
        accepted(with(languages, false));
    }
    assert_eq!(
        contradictory(with(json!(["en", "pl"]), false)),
        ["language_config.languages must hold only en, fr, de, es, it with the model stt-3, not pl"]
    );
    assert_eq!(
        contradictory(with(json!([]), true)),
        ["language_config.code_switching must be false with the model stt-3"]
    );
}

#[test]
fn languages_are_canonical_and_stand_once() {
    let config = |languages: Value| json!({ "language_config": { "languages": languages } });
    let spec = accepted(config(json!(["en-US", "nb", "en", "iw"])));
    assert_eq!(
        spec.request_params["language_config"],
        json!({ "languages": ["en", "no", "he"], "code_switching": false })
    );
    assert_eq!(
        invalid(config(json!(["en", "xx"]))),
        ["language_config.languages.1 must be a known language code"]
    );
    assert_eq!(invalid(config(json!([1]))), ["language_config.languages.0 must be a string"]);
    assert_eq!(invalid(config(json!("en"))), ["language_config.languages must be an array"]);
    assert_eq!(invalid(json!({ "language_config": [] })), ["language_config must be an object"]);
    assert_eq!(
        invalid(json!({ "language_config": { "code_switching": "no" } })),
        ["language_config.code_switching must be a boolean"]
    );
}

#[test]
fn speaker_bounds_must_not_cross() {
    let with = |least: u32, most: u32| json!({ "diarization": true, "diarization_config": { "min_speakers": least, "max_speakers": most } });
    accepted(with(2, 2));
    assert_eq!(
        contradictory(with(3, 2)),
        ["diarization_config.min_speakers must not be greater than max_speakers"]
    );
    let mut off = with(3, 2);
    off["diarization"] = false.into();
    accepted(off);
}

#[test]
fn callbacks_are_checked_and_the_config_wins_over_the_old_field() {
    let url = "https://hook.example/x";
    let spec = accepted(json!({ "callback": true, "callback_config": { "url": url, "method": "PUT" } }));
    let callback = spec.callback.unwrap();
    assert_eq!((callback.url.as_str(), callback.method), (url, CallbackMethod::Put));
    assert_eq!(spec.request_params["callback_config"], json!({ "url": url, "method": "PUT" }));

    let old = accepted(json!({ "callback_url": url })).callback.unwrap();
    assert_eq!((old.url.as_str(), old.method), (url, CallbackMethod::Post));
    let both =
        json!({ "callback_url": "https://old.example", "callback": true, "callback_config": { "url": url } });
    assert_eq!(accepted(both).callback.unwrap().url, url);
    assert_eq!(accepted(json!({ "callback_config": { "url": url } })).callback, None);

    assert_eq!(
        contradictory(json!({ "callback": true })),
        ["callback_config is required when callback is true"]
    );
    for (config, entry) in [
        (json!({}), "callback_config.url is required"),
        (json!({ "url": 1 }), "callback_config.url must be a string"),
        (json!({ "url": url, "method": "GET" }), "callback_config.method must be one of POST, PUT"),
        (json!({ "url": url, "method": "post" }), "callback_config.method must be one of POST, PUT"),
    ] {
        assert_eq!(invalid(json!({ "callback": true, "callback_config": config })), [entry]);
    }
    for target in
        ["x", "ftp://a.example", "http://127.0.0.1/", "http://10.0.0.1", "http://[::1]/", "http://localhost/"]
    {
        let [entry] = &invalid(json!({ "callback_url": target }))[..] else { panic!("{target}") };
        assert!(entry.starts_with("callback_url must "), "{entry}");
    }
}

#[test]
fn metadata_is_an_object_of_at_most_2000_characters() {
    let of_length =
        |length: usize| json!({ "custom_metadata": { "k": "é".repeat(length - r#"{"k":""}"#.len()) } });
    let spec = accepted(of_length(2000));
    assert_eq!(spec.custom_metadata.map(Value::from).as_ref(), Some(&spec.request_params["custom_metadata"]));
    assert_eq!(
        invalid(of_length(2001)),
        ["custom_metadata must not be longer than 2000 characters when written as JSON"]
    );
    assert_eq!(invalid(json!({ "custom_metadata": "x" })), ["custom_metadata must be an object"]);
    assert!(!accepted(json!({})).request_params.contains_key("custom_metadata"));
}

#[test]
fn what_clients_send_beyond_the_specification_is_ignored_and_not_echoed() {
    let spec = accepted(json!({
        "detect_language": true,
        "enable_code_switching": "x",
        "language": "english",
        "code_switching_config": [],
        "context_prompt": 5,
        "structured_data_extraction_config": { "classes": [] },
        "custom_vocabulary": ["a", "b"],
        "diarization": true,
        "diarization_config": { "enhanced": true, "min_speakers": null },
    }));
    let echo = &spec.request_params;
    for name in
        ["detect_language", "enable_code_switching", "language", "code_switching_config", "context_prompt"]
    {
        assert!(!echo.contains_key(name), "{name}");
    }
    assert_eq!(echo["custom_vocabulary"], json!(false));
    assert_eq!(echo["diarization_config"], json!({}));
}

#[test]
fn flags_that_nobody_serves_are_remembered_or_refused() {
    let spec = accepted(json!({ "summarization": true, "subtitles": true }));
    assert_eq!(spec.missing_addons, ["subtitles", "summarization"]);
    assert_eq!(spec.request_params["subtitles_config"], json!({ "formats": ["srt"], "style": "default" }));
    let [entry] = &contradictory(json!({ "pii_redaction": true }))[..] else { panic!() };
    assert!(entry.starts_with("pii_redaction must "), "{entry}");

    let absent = |name: &str, required, forced| AbsentAddon { name: name.into(), required, forced };
    let catalogue = catalogue(
        Vec::new(),
        vec![
            absent("moderation", true, false),
            absent("house_rules", true, false),
            absent("sentences", false, true),
        ],
    );
    for flag in ["moderation", "house_rules"] {
        assert!(
            matches!(check_with(&catalogue, json!({ flag: true })), Err(Rejection::Contradictory(_))),
            "{flag}"
        );
    }
    assert_eq!(spec_of(check_with(&catalogue, json!({})).unwrap()).missing_addons, ["sentences"]);
}

#[test]
fn the_schema_of_a_loaded_addon_takes_the_place_of_the_specifications() {
    let schema = json!({ "type": "object", "properties": { "formats": { "items": { "enum": ["ttml"] } } } });
    let catalogue = catalogue(vec![facts("subtitles", schema)], Vec::new());
    let body =
        |format: &str| json!({ "subtitles": true, "subtitles_config": { "formats": [format], "x": 1 } });
    let draft = check_with(&catalogue, body("ttml")).unwrap();
    assert_eq!(
        draft.addons().map(|(addon, key)| (addon.config.as_str(), key)).collect::<Vec<_>>(),
        [(r#"{"formats":["ttml"]}"#, Some("subtitles_config"))]
    );
    let spec = draft.finish(vec![r#"{"formats":["ttml"],"rows":2}"#.into()]);
    assert_eq!(spec.request_params["subtitles_config"], json!({ "formats": ["ttml"], "rows": 2 }));
    assert_eq!(spec.addons[0].config, r#"{"formats":["ttml"],"rows":2}"#);
    assert!(spec.missing_addons.is_empty());
    assert_eq!(
        check_with(&catalogue, body("srt")).unwrap_err(),
        Rejection::Invalid(vec!["subtitles_config.formats.0 must be one of ttml".into()])
    );
}

#[test]
fn custom_addons_have_flags_and_configs_like_any_other() {
    let schema = json!({
        "type": "object", "required": ["words"], "additionalProperties": false,
        "properties": { "words": { "type": "array", "maxItems": 2, "items": { "type": "string" } } },
    });
    let catalogue = catalogue(vec![facts("my_addon", schema)], Vec::new());
    let reject = |body| check_with(&catalogue, body).unwrap_err();
    assert_eq!(
        reject(json!({ "my_addon": true })),
        Rejection::Contradictory(vec!["my_addon_config is required when my_addon is true".into()])
    );
    for (body, entry) in [
        (json!({ "my_addon": "yes" }), "my_addon must be a boolean"),
        (json!({ "my_addon_config": 1 }), "my_addon_config must be an object"),
        (json!({ "my_addon": true, "my_addon_config": {} }), "my_addon_config.words is required"),
        (
            json!({ "my_addon": true, "my_addon_config": { "words": ["a", "b", "c"] } }),
            "my_addon_config.words must contain at most 2 items",
        ),
        (
            json!({ "my_addon": true, "my_addon_config": { "words": [], "colour": 1 } }),
            "my_addon_config must not have the members colour",
        ),
    ] {
        assert_eq!(reject(body), Rejection::Invalid(vec![entry.into()]));
    }
    let spec = spec_of(
        check_with(&catalogue, json!({ "my_addon": true, "my_addon_config": { "words": ["a"] } })).unwrap(),
    );
    assert_eq!(spec.addons[0].name, "my_addon");
    assert_eq!(spec.request_params["my_addon"], json!(true));
    assert_eq!(spec.request_params["my_addon_config"], json!({ "words": ["a"] }));
    let off = spec_of(check_with(&catalogue, json!({})).unwrap());
    assert!(off.addons.is_empty());
    assert_eq!(off.request_params["my_addon"], json!(false));
}

#[test]
fn forced_and_required_addons_run_without_being_asked_for() {
    let names = |body: Value| -> Vec<String> {
        let forced = AddonFacts {
            forced: true,
            requires: vec!["base_addon".into()],
            ..facts("house_rules", json!({}))
        };
        let catalogue =
            catalogue(vec![facts("base_addon", json!({})), facts("other", json!({})), forced], Vec::new());
        spec_of(check_with(&catalogue, body).unwrap()).addons.into_iter().map(|addon| addon.name).collect()
    };
    assert_eq!(names(json!({})), ["base_addon", "house_rules"]);
    assert_eq!(names(json!({ "house_rules": false, "base_addon": false })), ["base_addon", "house_rules"]);
    assert_eq!(names(json!({ "other": true })), ["base_addon", "other", "house_rules"]);
}

#[test]
fn an_addon_with_a_broken_schema_is_left_out_by_name() {
    let (catalogue, refused) =
        Catalogue::new(vec![facts("bad", json!({ "type": 1 })), facts("good", json!({}))], Vec::new());
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].0, "bad");
    assert!(check_with(&catalogue, json!({ "good": true, "bad": "ignored" })).is_ok());
}

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

proptest! {
    /// Whatever a client sends: no panic, every complaint in the agreed form, and what is
    /// accepted is accepted again when its echo is sent.
    #[test]
    fn any_object_gets_an_answer(members in prop::collection::btree_map(any_name(), any_json(), 0..12)) {
        let body: Map<String, Value> = members.into_iter().collect();
        match prerecorded(&body, &rules(), &Catalogue::default(), &[]) {
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
