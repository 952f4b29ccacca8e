//! What a request leaves in the log: one line, and nothing private.

use std::io;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use serde_json::json;

use super::{Harness, KEY};

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Captures what this thread logs until the rest is dropped.
fn capture() -> (Captured, (tracing::Dispatch, tracing::subscriber::DefaultGuard)) {
    // While one dispatcher alone exists, a place that logs is taken for unwanted when it is first
    // reached on a thread without a subscriber: by one of the other tests. So there are two.
    let other = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    let captured = Captured::default();
    let writer = captured.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    (captured, (other, tracing::subscriber::set_default(subscriber)))
}

#[tokio::test]
async fn a_request_is_one_line_without_anything_private() {
    let harness = Harness::new().await;
    let (captured, _guards) = capture();

    let secret_url = "https://user:password@audio.example/a.wav?signature=s3cr3t";
    let body = json!({ "audio_url": secret_url, "custom_metadata": { "name": "Ada" } });
    let request = Harness::request("POST", "/v2/pre-recorded?token=t0k3n")
        .header("content-type", "application/json")
        .header("x-gladia-version", "SdkPython/2.2.1")
        .body(Body::from(body.to_string()));
    let created = harness.send(request.unwrap()).await;
    let id = created.json()["id"].as_str().unwrap().to_owned();
    harness.get(&format!("/v2/pre-recorded/{id}?token=t0k3n")).await;
    harness.get("/private/t0k3n").await.envelope(404);

    let log = captured.text();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("tympan::api")).collect();
    assert_eq!(lines.len(), 3, "{log}");
    for part in ["method=POST", "path=\"/v2/pre-recorded\"", "status=200", created.header("x-request-id")] {
        assert!(lines[0].contains(part), "{part} in {}", lines[0]);
    }
    assert!(lines[1].contains("path=\"/v2/pre-recorded/{id}\""), "{}", lines[1]);
    assert!(lines[2].contains("path=\"-\"") && lines[2].contains("status=404"), "{}", lines[2]);
    for private in [KEY, "password", "s3cr3t", "t0k3n", "Ada", "audio.example"] {
        assert!(!log.contains(private), "{private} in {log}");
    }
}

#[tokio::test]
async fn a_failure_of_the_database_tells_its_cause_and_no_value() {
    let harness = Harness::new().await;
    let (captured, _guards) = capture();
    harness
        .execute("CREATE TRIGGER refuse BEFORE INSERT ON jobs BEGIN SELECT RAISE(ABORT, 'the cause'); END")
        .await;
    let url = "https://audio.example/a.wav?signature=s3cr3t";
    let answer = harness.post("/v2/pre-recorded", &json!({ "audio_url": url })).await;
    answer.envelope(500);
    let log = captured.text();
    let failed =
        log.lines().find(|line| line.contains("a request failed")).unwrap_or_else(|| panic!("{log}"));
    assert!(failed.contains("the database failed: ") && failed.contains("the cause"), "{failed}");
    assert!(failed.contains(answer.header("x-request-id")), "{failed}");
    assert!(!log.contains("s3cr3t") && !log.contains("audio.example"), "{log}");
}
