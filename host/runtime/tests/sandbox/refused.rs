//! What must not load, each with a sentence that names the reason.

use std::collections::BTreeSet;

use crate::raw::Raw;
use crate::support::{self, runtime};
use tympan_runtime::{Limits, Policy, Runtime, RuntimeSettings};

async fn refusal(raw: Raw) -> String {
    let policy = Policy { taken_names: BTreeSet::from(["audio_url".to_owned()]), ..Policy::default() };
    runtime().load_bytes(raw.component(), &policy).await.expect_err("it must not load").to_string()
}

#[tokio::test]
async fn an_honest_component_loads() {
    let addon = runtime().load_bytes(Raw::default().component(), &Policy::default()).await.unwrap();
    assert_eq!(addon.descriptor().name, "raw");
    assert_eq!(addon.contract_version(), "0.1.0");
    assert!(
        addon.imports().iter().all(|import| import.starts_with("tympan:addon/")),
        "{:?}",
        addon.imports()
    );
}

#[tokio::test]
async fn other_versions_of_the_contract() {
    for version in ["0.2.0", "0.10.0", "1.0.0", "7.3.1"] {
        let sentence = refusal(Raw { contract: version.to_owned(), ..Raw::default() }).await;
        assert!(sentence.contains(version) && sentence.contains("supports 0.1"), "{sentence}");
    }
}

#[tokio::test]
async fn an_import_that_nobody_granted() {
    let imports = vec![("llm".to_owned(), "complete".to_owned())];
    let items = "(func (export \"never\") call 0)".to_owned();
    let sentence = refusal(Raw { imports, items, ..Raw::default() }).await;
    assert!(sentence.contains("tympan:addon/llm@0.1.0"), "{sentence}");
}

#[tokio::test]
async fn names_that_collide_or_are_none() {
    let sentence = refusal(Raw { name: "audio_url".to_owned(), ..Raw::default() }).await;
    assert_eq!(sentence, "its name `audio_url` is already taken");
    let sentence = refusal(Raw { name: "../../etc".to_owned(), ..Raw::default() }).await;
    assert!(sentence.contains("must match"), "{sentence}");
    let sentence = refusal(Raw { slot: "video".to_owned(), ..Raw::default() }).await;
    assert!(sentence.contains("slot `video`"), "{sentence}");
}

#[tokio::test]
async fn components_that_attack_while_they_are_loaded() {
    let spin = "(loop $again (br $again))";
    let in_describe = refusal(Raw { describe: spin.to_owned(), ..Raw::default() });
    let items = format!("(func $start {spin}) (start $start)");
    let in_start = refusal(Raw { items, ..Raw::default() });
    let sentences = tokio::join!(in_describe, in_start);
    for sentence in [sentences.0, sentences.1] {
        assert!(sentence.contains("no answer within"), "{sentence}");
    }
    let sentence = refusal(Raw { describe: "unreachable".to_owned(), ..Raw::default() }).await;
    assert!(sentence.contains("describe itself"), "{sentence}");
    let items = "(memory $huge 60000)".to_owned();
    let sentence = refusal(Raw { items, ..Raw::default() }).await;
    assert!(!sentence.contains('\n') && sentence.len() < 500, "{sentence}");
}

#[tokio::test]
async fn another_file_than_the_config_names() {
    let expected = "0".repeat(64);
    let policy = Policy { expected_sha256: Some(expected.clone()), ..Policy::default() };
    let bytes = Raw::default().component();
    let sentence = runtime().load_bytes(bytes.clone(), &policy).await.unwrap_err().to_string();
    assert!(sentence.contains(&expected), "{sentence}");
    let actual = Runtime::inspect(&bytes).unwrap().sha256.to_uppercase();
    let policy = Policy { expected_sha256: Some(actual), ..Policy::default() };
    assert!(runtime().load_bytes(bytes, &policy).await.is_ok());
}

#[tokio::test]
async fn the_operators_policy_can_come_after_the_name() {
    let addon = runtime().load_bytes(Raw::default().component(), &Policy::default()).await.unwrap();
    let pinned = Policy { expected_sha256: Some("0".repeat(64)), ..Policy::default() };
    assert!(addon.with_policy(&pinned).unwrap_err().to_string().contains("SHA-256"));
    let taken = Policy { taken_names: BTreeSet::from(["raw".to_owned()]), ..Policy::default() };
    assert!(addon.with_policy(&taken).unwrap_err().to_string().contains("already taken"));
    let limits = Limits { memory_bytes: 1 << 16, ..Limits::default() };
    let tight = addon.with_policy(&Policy { limits, ..Policy::default() }).unwrap();
    assert_eq!(support::error(&support::run(&tight, "{}").await).exception, "MemoryLimit");
    assert_eq!((tight.counters().calls, addon.counters().calls), (1, 0));
}

#[tokio::test]
async fn files_that_are_no_components() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.wasm");
    let files: [(&[u8], &str); 4] = [
        (b"", "empty"),
        (b"#!/bin/sh\nexit 0\n", "not a WebAssembly file"),
        (b"\0asm\x01\0\0\0", "core WebAssembly module"),
        (b"\0asm\x0d\0\x01\0", "not an add-on"),
    ];
    for (bytes, part) in files {
        std::fs::write(&path, bytes).unwrap();
        let sentence = runtime().load(&path, &Policy::default()).await.unwrap_err().to_string();
        assert!(sentence.contains(part), "{sentence}");
    }
    let missing = folder.path().join("none.wasm");
    let sentence = runtime().load(&missing, &Policy::default()).await.unwrap_err().to_string();
    assert!(sentence.contains("cannot read the file"), "{sentence}");
}

#[tokio::test]
async fn the_second_load_comes_from_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let settings =
        RuntimeSettings { cache_dir: Some(folder.path().to_owned()), ..RuntimeSettings::default() };
    let bytes = Raw::default().component();
    let names = || -> BTreeSet<_> {
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    let first = Runtime::new(settings.clone()).unwrap();
    first.load_bytes(bytes.clone(), &Policy::default()).await.unwrap();
    let kept = names();
    assert_eq!(kept.len(), 3, "code, its digest and the description: {kept:?}");

    // A description that only the cache can have given.
    let description = kept.iter().find(|name| name.to_string_lossy().ends_with(".json")).unwrap();
    let text = std::fs::read_to_string(folder.path().join(description)).unwrap();
    std::fs::write(folder.path().join(description), text.replace("Written by hand", "From the cache"))
        .unwrap();
    let second = Runtime::new(settings).unwrap();
    let addon = second.load_bytes(bytes, &Policy::default()).await.unwrap();
    assert_eq!(addon.descriptor().summary, "From the cache");
    assert_eq!(names(), kept);
}
