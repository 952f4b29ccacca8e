//! Fields that belong to the host itself.

use serde_json::{Map, Value, json};

use super::{accepted, contradictory, invalid, rules};
use crate::model::job::{AudioSource, CallbackMethod};
use crate::validate::{Catalogue, Rejection, prerecorded};

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
    assert_eq!(
        without(Some(json!("http://a.example:65536/x"))),
        ["audio_url must have a port from 0 to 65535"]
    );
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
