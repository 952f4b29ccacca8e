//! Add-ons through the real binary: ours, custom ones in Rust and Python, and hostile ones.
#![allow(clippy::unwrap_used)]

mod attacks;
mod redaction;

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

/// A folder with only these of the example components: Python takes long to compile.
fn examples(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        copy(&built("examples").join(format!("{name}.wasm")), folder.path());
    }
    folder
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
    let folder = examples(&["call_quality", "follow_ups"]);
    let server = Server::start(Options::default().addons(&[folder.path().to_owned()]));
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
    let good = std::fs::read(root().join("target/addons/tympan_plugin_sentences.wasm")).unwrap();
    std::fs::write(folder.path().join("random.wasm"), [7_u8; 4096]).unwrap();
    std::fs::write(folder.path().join("empty.wasm"), []).unwrap();
    std::fs::write(folder.path().join("truncated.wasm"), &good[..good.len() / 2]).unwrap();
    std::fs::write(folder.path().join("core.wasm"), b"\0asm\x01\0\0\0").unwrap();
    std::fs::write(folder.path().join("again.wasm"), &good).unwrap();
    std::fs::write(folder.path().join("greedy.wasm"), asking_for_another_capability(&good)).unwrap();
    let server = Server::start(Options::default().addons(&[folder.path().to_owned()]));
    let log = server.log();
    for file in ["random", "empty", "truncated", "core", "again", "greedy"] {
        assert!(log.contains(&format!("{file}.wasm")), "{file} is not named:\n{log}");
    }
    assert_eq!(run(&server, json!({"sentences": true})).await["result"]["sentences"]["success"], true);
    let metrics = String::from_utf8(server.client().get("/metrics").await.bytes).unwrap();
    let denials: Vec<&str> =
        metrics.lines().filter(|line| line.starts_with("tympan_addon_denials_total{")).collect();
    assert_eq!(denials, ["tympan_addon_denials_total{addon=\"greedy\"} 1"]);
}

/// The component with the name of an interface that it imports replaced by one of the same
/// length, which this host does not offer.
fn asking_for_another_capability(component: &[u8]) -> Vec<u8> {
    let (offered, other) = (b"tympan:addon/runtime@", b"tympan:addon/archive@");
    let mut changed = component.to_vec();
    for at in 0..changed.len() - offered.len() {
        if changed[at..].starts_with(offered) {
            changed[at..at + other.len()].copy_from_slice(other);
        }
    }
    assert_ne!(changed, component);
    changed
}

const SHORT_TIMEOUTS: &str =
    "[worker]\nslots = 4\n[addons.hostile]\ntimeout_ms = 1500\n[addons.hostile_python]\ntimeout_ms = 3000\n";

#[tokio::test]
async fn a_python_addon_that_looks_around_finds_nothing_and_harms_nobody() {
    let folder = examples(&["hostile_python"]);
    let server = Server::start(Options::default().addons(&[folder.path().to_owned()]).config(SHORT_TIMEOUTS));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    for deed in ["open_file", "connect", "sleep_an_hour", "read_environment"] {
        let more = json!({"hostile_python": true, "hostile_python_config": {"do": deed, "port": port}});
        let job = run(&server, more).await;
        assert_eq!(job["status"], "done", "{deed}: {job}");
        let wrapper = &job["result"]["hostile_python"];
        // Python sees an environment without a single variable.
        let is_empty_handed = deed == "read_environment" && wrapper["results"]["got"] == json!({});
        assert_eq!(wrapper["success"], is_empty_handed, "{deed}: {wrapper}");
        assert_eq!(wrapper["error"]["exception"] == "Timeout", deed == "sleep_an_hour", "{deed}: {wrapper}");
    }
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    let log = server.log();
    assert!(!log.contains("country"), "the log holds transcript text");
}

#[tokio::test]
async fn an_addon_can_be_added_while_the_server_runs_and_a_lost_folder_takes_none_away() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Options::default().addons(&[folder.path().to_owned()]));
    let flag = json!({"audio_url": "http://x.test/a.wav", "call_quality": "not a boolean"});
    assert_eq!(
        server.client().post("/v2/pre-recorded", &flag).await.status,
        200,
        "an unknown field is ignored"
    );
    copy(&built("examples").join("call_quality.wasm"), folder.path());
    hang_up(&server);
    let is_there = async || server.client().post("/v2/pre-recorded", &flag).await.status == 400;
    until(&server, is_there).await;
    // Three at the start, and one more.
    assert_eq!(server.log().matches("add-on loaded").count(), 3 + 4);

    // A folder that cannot be read takes nothing away.
    std::fs::remove_file(folder.path().join("call_quality.wasm")).unwrap();
    std::fs::remove_dir(folder.path()).unwrap();
    std::fs::write(folder.path(), "no folder").unwrap();
    hang_up(&server);
    until(&server, async || server.log().contains("cannot read a folder of add-ons")).await;
    until(&server, async || server.log().matches("add-on loaded").count() == 3 + 4 + 4).await;
    assert!(is_there().await);
}

async fn until(server: &Server, holds: impl AsyncFn() -> bool) {
    let begun = std::time::Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < std::time::Duration::from_secs(60), "{}", server.log());
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_waiting_job_runs_with_the_component_that_it_was_promised() {
    let folder = examples(&["call_quality"]);
    let config = "[worker]\nslots = 1\n[addons.hostile]\ntimeout_ms = 10000\n";
    let addons = [folder.path().to_owned(), built("hostile")];
    let server = Server::start(Options::default().addons(&addons).config(config));
    let (client, files) = (server.client(), Recordings::serve(fixtures::folder()));
    let wish = |flag: &str| json!({"audio_url": files.url(RECORDING), "language_config": {"languages": ["en"]}, flag: true});
    let mut slow = wish("hostile");
    slow["hostile_config"] = json!({"act": "spin"});
    let slow = client.create(&slow).await;
    let waiting = client.create(&wish("call_quality")).await;
    // As if they had been loaded long ago.
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(48 * 3600);
    for copy in std::fs::read_dir(server.data_dir().join("components")).unwrap() {
        let copy = std::fs::File::options().write(true).open(copy.unwrap().path()).unwrap();
        copy.set_modified(long_ago).unwrap();
    }
    // The same code with an empty section behind it has another digest.
    let file = folder.path().join("call_quality.wasm");
    let changed = [std::fs::read(&file).unwrap(), vec![0, 2, 1, b'x']].concat();
    std::fs::write(&file, changed).unwrap();
    let loaded = || {
        server
            .log()
            .lines()
            .filter(|line| line.contains("add-on loaded") && line.contains("call_quality"))
            .count()
    };
    hang_up(&server);
    until(&server, async || loaded() == 2).await;
    let job = client.wait(&waiting).await;
    assert_eq!(job["result"]["call_quality"]["success"], true, "{job}");
    assert_eq!(client.wait(&slow).await["result"]["hostile"]["error"]["exception"], "Timeout");
}

fn hang_up(server: &Server) {
    let status =
        std::process::Command::new("kill").args(["-HUP", &server.id().to_string()]).status().unwrap();
    assert!(status.success());
}

fn copy(file: &Path, folder: &Path) {
    std::fs::copy(file, folder.join(file.file_name().unwrap())).expect("run `make examples` first");
}
