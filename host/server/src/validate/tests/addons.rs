//! Add-ons: loaded, absent, custom, forced, required.

use serde_json::{Value, json};

use super::{accepted, catalogue, check_with, contradictory, facts, spec_of};
use crate::validate::{AbsentAddon, AddonFacts, Catalogue, Rejection};

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

#[test]
fn whole_numbers_reach_an_addon_as_integers() {
    let schema = json!({ "properties": { "rows": { "type": "integer" } } });
    let catalogue = catalogue(vec![facts("shout", schema)], Vec::new());
    let draft = check_with(&catalogue, json!({ "shout": true, "shout_config": { "rows": 2.0 } })).unwrap();
    assert_eq!(draft.addons().next().unwrap().0.config, r#"{"rows":2}"#);
}
