//! Add-ons through the real binary: ours, custom ones in Rust and Python, and hostile ones.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tympan_tests::fixtures;
use tympan_tests::recordings::Recordings;
use tympan_tests::server::{Options, Server, root};

const RECORDING: &str = "en/jfk.wav";

/// A folder of components that `make` builds.
fn built(folder: &str) -> PathBuf {
    let path = root().join("target").join(folder);
    assert!(path.is_dir(), "{} is missing; run `make examples hostile` first", path.display());
    path
}

async fn run(server: &Server, more: Value) -> Value {
    let files = Recordings::serve(fixtures::folder());
    let mut body = more;
    body["language_config"] = json!({"languages": ["en"]});
    server.client().run(&files.url(RECORDING), body).await
}

#[tokio::test]
async fn spelling_sentences_and_subtitles_work_together() {
    let server = Server::start(Options::default());
    let job = run(
        &server,
        json!({
            "custom_spelling": true,
            "custom_spelling_config": {"spelling_dictionary": {"FELLOW": ["fellow"], "Landsleute": ["Americans"]}},
            "sentences": true,
            "subtitles": true,
            "subtitles_config": {"formats": ["srt", "vtt"], "maximum_characters_per_row": 20},
        }),
    )
    .await;
    let result = &job["result"];
    let text = result["transcription"]["full_transcript"].as_str().unwrap();
    assert!(text.contains("FELLOW Landsleute"), "{text}");
    assert!(result.get("custom_spelling").is_none());
    let sentences = result["transcription"]["sentences"][0]["results"].as_array().unwrap();
    assert!(sentences.iter().any(|sentence| sentence.as_str().unwrap().contains("Landsleute")));
    assert_eq!(result["sentences"]["success"], true);
    let files = result["transcription"]["subtitles"].as_array().unwrap();
    assert_eq!((&files[0]["format"], &files[1]["format"]), (&json!("srt"), &json!("vtt")));
    let srt = files[0]["subtitles"].as_str().unwrap();
    assert!(srt.starts_with("1\n00:00:00,") && srt.contains("FELLOW"), "{srt}");
    assert!(srt.lines().all(|line| line.contains("-->") || line.chars().count() <= 20), "{srt}");
}

#[tokio::test]
async fn custom_addons_are_dropped_in_and_used_by_their_flags() {
    let server = Server::start(Options::default().addons(&[built("examples")]));
    let job = run(&server, json!({"call_quality": true, "follow_ups": true})).await;
    for name in ["call_quality", "follow_ups"] {
        assert_eq!(job["result"][name]["success"], true, "{name}: {}", job["result"][name]);
        assert_eq!(job["request_params"][name], true);
    }
    let answer = server
        .client()
        .post("/v2/pre-recorded", &json!({"audio_url": "http://x.test/a", "call_quality": 1}))
        .await;
    assert_eq!(answer.status, 400, "{}", answer.body);
    assert!(
        answer.body["validation_errors"][0].as_str().unwrap().starts_with("call_quality must"),
        "{}",
        answer.body
    );
}

#[tokio::test]
async fn a_flag_that_nothing_serves_gives_a_wrapper_and_the_transcript() {
    let server = Server::start(Options::default());
    let job = run(&server, json!({"summarization": true})).await;
    assert_eq!(job["status"], "done");
    assert!(job["result"]["transcription"]["full_transcript"].as_str().unwrap().contains("country"));
    assert_eq!(job["result"]["summarization"]["error"]["exception"], "AddonNotInstalled");
    let answer = server
        .client()
        .post("/v2/pre-recorded", &json!({"audio_url": "http://x.test/a", "pii_redaction": true}))
        .await;
    assert_eq!(answer.status, 422, "{}", answer.body);
}

#[tokio::test]
async fn bad_files_are_refused_by_name_and_the_rest_loads() {
    let folder = tempfile::tempdir().unwrap();
    let good = std::fs::read(root().join("target/addons/sentences.wasm")).unwrap();
    std::fs::write(folder.path().join("random.wasm"), [7_u8; 4096]).unwrap();
    std::fs::write(folder.path().join("empty.wasm"), []).unwrap();
    std::fs::write(folder.path().join("truncated.wasm"), &good[..good.len() / 2]).unwrap();
    std::fs::write(folder.path().join("core.wasm"), b"\0asm\x01\0\0\0").unwrap();
    std::fs::write(folder.path().join("again.wasm"), &good).unwrap();
    let server = Server::start(Options::default().addons(&[folder.path().to_owned()]));
    let log = server.log();
    for file in ["random", "empty", "truncated", "core", "again"] {
        assert!(log.contains(&format!("{file}.wasm")), "{file} is not named:\n{log}");
    }
    assert_eq!(run(&server, json!({"sentences": true})).await["result"]["sentences"]["success"], true);
}

/// Hostile components by the flag that switches each on, with the exception it must end in.
fn hostile_flags() -> Vec<(String, String)> {
    let table =
        std::fs::read_to_string(root().join("tests/hostile/expected.json")).expect("the table of attacks");
    let table: Value = serde_json::from_str(&table).unwrap();
    let rows = table.as_object().unwrap().iter();
    rows.map(|(flag, exception)| (flag.clone(), exception.as_str().unwrap().to_owned())).collect()
}

#[tokio::test]
async fn every_attack_ends_as_one_wrapper_beside_honest_jobs() {
    let server = Server::start(
        Options::default()
            .addons(&[built("hostile")])
            .config("[worker]\nslots = 4\n[addons.endless_loop]\ntimeout_ms = 2000\n"),
    );
    let files = Recordings::serve(fixtures::folder());
    let client = server.client();
    let mut attacks = Vec::new();
    for (flag, exception) in hostile_flags() {
        let body = json!({"audio_url": files.url(RECORDING), "language_config": {"languages": ["en"]}, flag.as_str(): true});
        attacks.push((flag, exception, client.create(&body).await));
    }
    let honest = run(&server, json!({"sentences": true})).await;
    assert_eq!(honest["result"]["sentences"]["success"], true, "{honest}");
    let mut faults = Vec::new();
    for (flag, exception, id) in attacks {
        let job = client.wait(&id).await;
        let text = job["result"]["transcription"]["full_transcript"].as_str().unwrap_or_default();
        let error = &job["result"][&flag]["error"];
        if job["status"] != "done" || !text.contains("country") || error["exception"] != exception.as_str() {
            faults.push(format!("{flag}: expected {exception}, got {error}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(client.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn an_addon_on_disk_can_be_replaced_while_the_server_runs() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Options::default().addons(&[folder.path().to_owned()]));
    let flag = json!({"audio_url": "http://x.test/a.wav", "call_quality": "not a boolean"});
    assert_eq!(
        server.client().post("/v2/pre-recorded", &flag).await.status,
        200,
        "an unknown field is ignored"
    );
    copy(&built("examples").join("call_quality.wasm"), folder.path());
    let status =
        std::process::Command::new("kill").args(["-HUP", &server.id().to_string()]).status().unwrap();
    assert!(status.success());
    for _ in 0..300 {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        if server.client().post("/v2/pre-recorded", &flag).await.status == 400 {
            return;
        }
    }
    panic!("the new add-on was not taken up:\n{}", server.log());
}

fn copy(file: &Path, folder: &Path) {
    std::fs::copy(file, folder.join(file.file_name().unwrap())).expect("run `make examples` first");
}
