//! Every bound of the specification's tables: at it, below it, above it.

use serde_json::{Value, json};

use super::{accepted, contradictory, invalid, with_member};
use crate::model::spec;

#[test]
fn bounds_of_config_objects_hold_at_below_and_above() {
    let good = [
        ("custom_vocabulary", "default_intensity", json!([0, 0.5, 1])),
        ("custom_vocabulary", "vocabulary", json!([[], ["a"], [{"value": "a", "intensity": 0}]])),
        ("subtitles", "formats", json!([["srt"], ["vtt", "srt"]])),
        ("subtitles", "minimum_duration", json!([0, 0.1, 20, 30])),
        ("subtitles", "maximum_duration", json!([1, 7.5, 30])),
        ("subtitles", "maximum_characters_per_row", json!([1, 42, 4_294_967_295_u32])),
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
        ("structured_data_extraction", "classes", json!([["Persons"], ["Moneys", "Vehicles"]])),
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
        ("subtitles", "minimum_duration", json!(30.01), "must not be greater than 30"),
        ("subtitles", "minimum_duration", json!(1e308), "must not be greater than 30"),
        ("subtitles", "maximum_duration", json!(0.99), "must not be less than 1"),
        ("subtitles", "maximum_duration", json!(30.01), "must not be greater than 30"),
        ("subtitles", "maximum_duration", json!("7"), "must be a number"),
        ("subtitles", "maximum_characters_per_row", json!(0), "must not be less than 1"),
        (
            "subtitles",
            "maximum_characters_per_row",
            json!(4_294_967_296_u64),
            "must not be greater than 4294967295",
        ),
        ("subtitles", "maximum_characters_per_row", json!(1e30), "must not be greater than 4294967295"),
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
            json!(["a", {"value": "b", "intensity": 1}, {"value": "b", "intensity": 1.01}]),
            "custom_vocabulary_config.vocabulary.2.intensity must not be greater than 1",
        ),
        (
            "custom_vocabulary",
            "vocabulary",
            json!([{"value": "b", "intensity": 0}, {"value": "b", "intensity": -0.01}]),
            "custom_vocabulary_config.vocabulary.1.intensity must not be less than 0",
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
fn values_of_long_enumerations_are_known_ones() {
    let known = |entity_types: Value| {
        // Nobody serves it, which is only found when nothing is invalid.
        contradictory(with_member("pii_redaction", "entity_types", entity_types))
    };
    for value in [json!("GDPR"), json!("NAME"), json!([]), json!(["HIPAA_SAFE_HARBOR", "YEAR"])] {
        known(value);
    }
    for (flag, member, value, path) in [
        ("pii_redaction", "entity_types", json!("name"), "entity_types"),
        ("pii_redaction", "entity_types", json!(["NAME", "NOSE"]), "entity_types.1"),
        ("structured_data_extraction", "classes", json!(["Persons", "persons"]), "classes.1"),
    ] {
        let entries = invalid(with_member(flag, member, value.clone()));
        let [entry] = &entries[..] else { panic!("{entries:?}") };
        assert!(entry.starts_with(&format!("{flag}_config.{path} must be one of ")), "{entry}");
        // Without its flag only the type of a config counts.
        let key = format!("{flag}_config");
        accepted(json!({ key: { member: value } }));
    }
    assert_eq!(
        invalid(with_member("structured_data_extraction", "classes", json!([]))),
        ["structured_data_extraction_config.classes must contain at least 1 item"]
    );
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
