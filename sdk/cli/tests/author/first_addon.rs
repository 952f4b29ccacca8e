//! From nothing to an add-on that runs.

use std::fs;
use std::process::Command;

use crate::support::{NAME, author, run, target_dir};

#[test]
fn a_new_add_on_is_built_and_runs_in_the_runtime_of_the_service() {
    let author = author();
    let out = run(
        &author.krate,
        &[
            "test",
            "target/addons/phrase_finder.wasm",
            "--transcript",
            "transcript.json",
            "--config",
            "@config.json",
        ],
    )
    .succeeded();
    assert!(out.contains("\"phrase\": \"thank you\""), "{out}");
    assert!(out.contains("log info: 1 hits"), "{out}");
    assert!(out.contains("transcript: unchanged"), "{out}");
    assert!(out.contains("time: ") && out.contains("memory: "), "{out}");
}

#[test]
fn a_new_add_on_is_tested_natively_with_plain_cargo() {
    let author = author();
    let output = Command::new("cargo")
        .args(["test", "--locked", "--target-dir"])
        .arg(target_dir().join("tmp/first-addon"))
        .current_dir(&author.krate)
        .output()
        .expect("cargo runs");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(stdout.contains("a_phrase_is_found_with_its_time ... ok"), "{stdout}");
}

#[test]
fn the_authors_own_code_stays_under_30_lines() {
    let source = fs::read_to_string(author().krate.join("src/lib.rs")).unwrap();
    let (code, _tests) = source.split_once("#[cfg(test)]").unwrap();
    let lines = code.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with("//"));
    let count = lines.count();
    assert!(count < 30, "{count} lines");
}

#[test]
fn a_new_crate_has_a_lock_file_and_stands_alone() {
    let krate = &author().krate;
    assert!(fs::read_to_string(krate.join("Cargo.lock")).unwrap().contains("name = \"tympan-sdk\""));
    assert!(fs::read_to_string(krate.join("Cargo.toml")).unwrap().contains("[workspace]"));
}

#[test]
fn an_existing_folder_is_left_alone() {
    let parent = author().krate.parent().unwrap();
    let again = run(parent, &["new", NAME]);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("exists already"), "{}", again.stderr);
}

#[test]
fn a_folder_without_the_sdk_is_named() {
    let empty = tempfile::tempdir().unwrap();
    let refused = run(empty.path(), &["new", "other", "--sdk", "."]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("holds no tympan SDK"), "{}", refused.stderr);
    assert!(!empty.path().join("other").exists());
}
