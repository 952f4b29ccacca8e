//! Which web pages are let in, and what stops the start with a sentence that helps, over the real
//! binary.
#![allow(clippy::unwrap_used)]

use tympan_tests::server::{KEY, Options, Server};

const PAGE: &str = "https://app.example";

fn http() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

async fn allowed_origin(server: &Server, method: &str, path: &str, key: &str) -> (u16, Option<String>) {
    let request = http()
        .request(method.parse().unwrap(), format!("{}{path}", server.base()))
        .header("origin", PAGE)
        .header("access-control-request-method", "GET")
        .header("x-service-key", key);
    let answer = request.send().await.unwrap();
    let origin = answer.headers().get("access-control-allow-origin");
    (answer.status().as_u16(), origin.map(|value| value.to_str().unwrap().to_owned()))
}

#[tokio::test]
async fn pages_are_let_in_by_the_operator_alone() {
    let closed = Server::start(Options::default());
    assert_eq!(allowed_origin(&closed, "OPTIONS", "/v2/pre-recorded", "").await, (405, None));
    assert_eq!(allowed_origin(&closed, "GET", "/v2/pre-recorded", KEY).await, (200, None));
    drop(closed);

    let config = format!("[cors]\nallowed_origins = [\"{PAGE}\"]\n");
    let open = Server::start(Options::default().config(&config));
    let page = || Some(PAGE.to_owned());
    assert_eq!(allowed_origin(&open, "OPTIONS", "/v2/pre-recorded", "").await, (200, page()));
    assert_eq!(allowed_origin(&open, "GET", "/v2/pre-recorded", KEY).await, (200, page()));
    assert_eq!(allowed_origin(&open, "GET", "/v2/pre-recorded", "wrong").await, (401, page()));
    assert_eq!(allowed_origin(&open, "GET", "/v2/admin/usage", KEY).await, (200, None));
    assert_eq!(allowed_origin(&open, "GET", "/metrics", "").await, (200, None));
    let shown = String::from_utf8(open.command(&["check-config"]).stdout).unwrap();
    assert!(shown.contains(&format!("cors.allowed_origins = [\"{PAGE}\"]")), "{shown}");
}

#[test]
fn an_origin_that_is_none_stops_the_start() {
    let config = "[cors]\nallowed_origins = [\"https://app.example/path\"]\n";
    let output = Options::default().config(config).command(&["serve"]);
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("cors.allowed_origins must hold origins such as https://app.example"), "{said}");
}

/// The program with no room for a single byte in any file, as on a full disk.
fn without_room(folder: &std::path::Path) -> Options {
    use std::os::unix::fs::PermissionsExt;
    let program = folder.join("tympan-without-room");
    let tympan = tympan_tests::server::binary("tympan");
    let script = format!("#!/bin/sh\ntrap '' XFSZ\nulimit -f 0\nexec '{}' \"$@\"\n", tympan.display());
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    Options { program: Some(program), ..Options::default() }
}

#[tokio::test]
async fn a_full_disk_stops_the_start_with_the_folder_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let output = without_room(folder.path()).command(&["serve"]);
    assert!(!output.status.success() && output.stdout.is_empty());
    let text = String::from_utf8_lossy(&output.stderr);
    let sentence =
        text.lines().find(|line| line.contains("the data folder /")).unwrap_or_else(|| panic!("{text}"));
    assert!(sentence.contains("/data cannot be used; free some space on its disk"), "{sentence}");

    // It had room once, and has so again after that.
    let mut server = Server::start(Options::default());
    server.kill();
    server.run_program(without_room(folder.path()).program);
    let output = server.command(&["serve"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains("free some space on its disk"), "{text}");
    server.run_program(None);
    server.restart();
    assert_eq!(server.client().get("/readyz").await.status, 200);
}

#[test]
fn a_damaged_model_stops_the_start_and_says_what_to_do() {
    let models = tempfile::tempdir().unwrap();
    for bytes in [&b"<html>not a model</html>"[..], &b"lmgg"[..]] {
        std::fs::write(models.path().join("ggml-base-q8_0.bin"), bytes).unwrap();
        let models = models.path().to_str().unwrap();
        let output = Options::default().variable("TYMPAN_MODELS_DIR", models).command(&["serve"]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains("run `tympan models pull base`"), "{text}");
        assert!(text.contains("is not a usable Whisper model"), "{text}");
    }
}

#[test]
fn a_data_folder_that_is_a_file_is_called_one() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let output =
        Options::default().variable("TYMPAN_DATA_DIR", file.path().to_str().unwrap()).command(&["serve"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains("must be a folder, and is none"), "{text}");
}
