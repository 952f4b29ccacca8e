//! `build` and `check`.

use std::fs;

use serde_json::Value;

use crate::support::{author, run, wasm_dir};

#[test]
fn check_says_what_the_component_is_and_asks_for() {
    let author = author();
    let text = run(&author.krate, &["check", author.component.to_str().unwrap()]).succeeded();
    for expected in [
        "name          phrase_finder 0.1.0",
        "contract      0.1.0",
        "imports       tympan:addon/runtime@0.1.0",
        "slot          analysis",
        "request flag  phrase_finder",
        "config        phrase_finder_config",
        "phrases: array of string, required. What to look for; case does not matter.",
        "asks for      nothing",
    ] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
}

#[test]
fn check_prints_json_with_a_schema_of_the_right_draft() {
    let author = author();
    let text = run(&author.krate, &["check", "--json", author.component.to_str().unwrap()]).succeeded();
    let checked: Value = serde_json::from_str(&text).unwrap();
    let size_bytes = fs::metadata(&author.component).unwrap().len();
    assert_eq!(checked["component"]["size_bytes"], size_bytes);
    let schema: Value =
        serde_json::from_str(checked["descriptor"]["config_schema"].as_str().unwrap()).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["properties"]["phrases"]["minItems"], 1);
}

#[test]
fn a_file_that_is_no_component_is_refused_with_a_sentence() {
    let author = author();
    let refused = run(&author.krate, &["check", "Cargo.toml"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("not a WebAssembly file"), "{}", refused.stderr);
}

#[test]
fn output_and_out_dir_say_where_components_go() {
    let author = author();
    let place = tempfile::tempdir().unwrap();
    let krate = author.krate.to_str().unwrap();
    let file = place.path().join("a/b/named.wasm");
    run(place.path(), &["build", krate, "--target-dir", &wasm_dir(), "-o", file.to_str().unwrap()])
        .succeeded();
    run(place.path(), &["build", krate, "--target-dir", &wasm_dir(), "--out-dir", "out"]).succeeded();
    let named = fs::read(&file).unwrap();
    assert!(named == fs::read(place.path().join("out/phrase_finder.wasm")).unwrap());
    assert!(named == fs::read(&author.component).unwrap(), "the same crate gives the same component");
}

#[test]
fn a_library_without_an_add_on_is_told_what_is_missing() {
    let author = author();
    let place = tempfile::tempdir().unwrap();
    let krate = place.path().join("empty");
    fs::create_dir_all(krate.join("src")).unwrap();
    fs::write(krate.join("src/lib.rs"), "#[unsafe(no_mangle)] pub extern \"C\" fn nothing() {}").unwrap();
    let manifest = fs::read_to_string(author.krate.join("Cargo.toml")).unwrap();
    fs::write(krate.join("Cargo.toml"), manifest.replace("phrase-finder", "empty")).unwrap();
    let lock = fs::read_to_string(author.krate.join("Cargo.lock")).unwrap();
    fs::write(krate.join("Cargo.lock"), lock.replace("phrase-finder", "empty")).unwrap();
    let refused = run(&krate, &["build", "--target-dir", &wasm_dir()]);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(refused.stderr.contains("put `addon!(YourType);` into src/lib.rs"), "{}", refused.stderr);
}
