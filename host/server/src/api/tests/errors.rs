//! Every refusal is an envelope.

use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::{Request, StatusCode};
use serde_json::{Value, json};

use super::{AUDIO, Harness, KEY};
use crate::config::{Auth, Secret};

const MISSING: &str = "6c09f2ab-9a4e-4c8c-8a34-3d6f0a1b2c3d";
/// What anybody may ask, and what costs the database something.
const WITHOUT_KEY: [&str; 2] = ["/readyz", "/metrics"];

#[tokio::test]
async fn without_a_valid_key_nothing_is_answered() {
    let harness = Harness::new().await;
    for (method, path) in [
        ("POST", "/v2/pre-recorded".to_owned()),
        ("POST", "/v2/transcription/".to_owned()),
        ("POST", "/v2/upload".to_owned()),
        ("GET", format!("/v2/pre-recorded/{MISSING}")),
        ("GET", format!("/v2/transcription/{MISSING}")),
        ("GET", "/v2/live".to_owned()),
        ("GET", "/v2/transcription/".to_owned()),
        ("DELETE", format!("/v2/live/{MISSING}")),
        ("PATCH", format!("/v2/live/{MISSING}/")),
        ("GET", format!("/v2/live/{MISSING}/file")),
        ("GET", format!("/file/{MISSING}")),
    ] {
        let bare = Request::builder().method(method).uri(&path).body(Body::empty()).unwrap();
        let envelope = harness.send(bare).await.envelope(401);
        assert_eq!(envelope["path"], path);
        for wrong in ["", "x", "test-key ", "TEST-KEY"] {
            let mut request = Harness::request(method, &path).body(Body::empty()).unwrap();
            request.headers_mut().insert("x-service-key", wrong.parse().unwrap());
            // Header values lose white space at their ends on the wire, not here.
            harness.send(request).await.envelope(401);
        }
    }
}

#[tokio::test]
async fn header_aliases_are_accepted_only_when_configured() {
    let path = format!("/v2/pre-recorded/{MISSING}");
    let request = || Request::builder().uri(&path).header("X-Gladia-Key", KEY).body(Body::empty()).unwrap();
    Harness::new().await.send(request()).await.envelope(401);
    let auth = Auth {
        header_aliases: vec!["x-gladia-key".into()],
        bootstrap_key: Some(Secret::new(KEY)),
        ..Auth::default()
    };
    Harness::with(|_| {}, auth).await.send(request()).await.envelope(404);
}

#[tokio::test]
async fn of_several_keys_none_is_tried() {
    let path = format!("/v2/pre-recorded/{MISSING}");
    let auth = Auth {
        header_aliases: vec!["x-gladia-key".into()],
        bootstrap_key: Some(Secret::new(KEY)),
        ..Auth::default()
    };
    let harness = Harness::with(|_| {}, auth).await;
    for (sent, status) in [
        (&[("x-service-key", KEY), ("x-gladia-key", KEY)][..], 404),
        (&[("x-gladia-key", KEY), ("x-gladia-key", KEY)], 404),
        (&[("x-service-key", KEY), ("x-service-key", KEY)], 401),
        (&[("x-service-key", KEY), ("x-service-key", "other")], 401),
        (&[("x-service-key", "other"), ("x-gladia-key", KEY)], 401),
        (&[("x-gladia-key", KEY), ("x-gladia-key", "other")], 401),
    ] {
        let mut request = Request::builder().uri(&path);
        for (name, key) in sent {
            request = request.header(*name, *key);
        }
        let envelope = harness.send(request.body(Body::empty()).unwrap()).await.envelope(status);
        let is_told = envelope["message"].as_str().unwrap().contains("x-service-key once");
        assert_eq!(is_told, status == 401, "{sent:?}: {envelope}");
    }
}

#[tokio::test]
async fn unknown_ids_paths_and_methods_have_their_status() {
    let harness = Harness::new().await;
    for path in [
        format!("/v2/pre-recorded/{MISSING}"),
        format!("/v2/transcription/{MISSING}"),
        "/v2/pre-recorded/nothing".to_owned(),
        "/v2/pre-recorded/%00".to_owned(),
        "/v2/pre-recorded/%ff".to_owned(),
        "/file/%ff".to_owned(),
        format!("/v2/pre-recorded/{{{MISSING}}}").replace(['{', '}'], "%7B"),
        format!("/file/{MISSING}"),
        "/file/../etc/passwd".to_owned(),
        "/".to_owned(),
        "/v2".to_owned(),
        "/v1/pre-recorded".to_owned(),
        "/v2/pre-recorded/a/b/c".to_owned(),
    ] {
        let envelope = harness.get(&path).await.envelope(404);
        assert_eq!(envelope["path"], path);
    }
    let job = format!("/v2/pre-recorded/{MISSING}");
    let file = format!("/v2/transcription/{MISSING}/file");
    for (method, path, allow) in [
        ("PUT", "/v2/pre-recorded", "POST,GET,HEAD"),
        ("PUT", "/v2/upload/", "POST"),
        ("POST", &job, "GET,HEAD,DELETE,PATCH"),
        ("DELETE", &file, "GET,HEAD"),
    ] {
        let answer = harness.send(Harness::request(method, path).body(Body::empty()).unwrap()).await;
        answer.envelope(405);
        assert_eq!(answer.header("allow"), allow);
    }
    for (method, path, status) in
        [("OPTIONS", "/v2/upload", 405), ("TRACE", "/healthz", 405), ("OPTIONS", "*", 404)]
    {
        let answer = harness.send(Harness::request(method, path).body(Body::empty()).unwrap()).await;
        answer.envelope(status);
    }
}

#[tokio::test]
async fn bodies_that_are_not_json_objects_are_refused() {
    let harness = Harness::new().await;
    let deep = format!("{{\"audio_url\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    for body in
        ["", "{", "nothing", "[]", "\"x\"", "null", "{\"audio_url\":1e999}", "{'a':1}", "\u{feff}{}", &deep]
    {
        let envelope = harness.post_text("/v2/pre-recorded", body.to_owned()).await.envelope(400);
        assert!(
            envelope["validation_errors"][0].as_str().unwrap().starts_with("body must be "),
            "{envelope}"
        );
    }
    let invalid_utf8 = b"{\"audio_url\":\"\xff\"}".to_vec();
    harness.post_text("/v2/pre-recorded", invalid_utf8).await.envelope(400);
}

#[tokio::test]
async fn of_a_member_that_stands_twice_the_last_counts() {
    let harness = Harness::new().await;
    let twice = format!(r#"{{"audio_url":"nothing","audio_url":"{AUDIO}","subtitles":1,"subtitles":false}}"#);
    assert_eq!(harness.post_text("/v2/pre-recorded", twice).await.status, 200);
}

#[tokio::test]
async fn strange_but_valid_values_are_kept() {
    let harness = Harness::new().await;
    let metadata = json!({ "nul": "a\u{0}b", "big": 123_456_789_012_345_678_901_234_567_890.0_f64, "": {} });
    let body = json!({ "audio_url": AUDIO, "custom_metadata": metadata });
    let created = harness.post("/v2/pre-recorded", &body).await.json();
    let job = harness.get(&format!("/v2/pre-recorded/{}", created["id"].as_str().unwrap())).await.json();
    assert_eq!(job["custom_metadata"], metadata);
}

#[tokio::test]
async fn other_media_types_are_415() {
    let harness = Harness::new().await;
    for path in ["/v2/pre-recorded", "/v2/transcription", "/v2/upload"] {
        for media_type in
            [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("application/jsonp")]
        {
            let mut request = Harness::request("POST", path);
            if let Some(media_type) = media_type {
                request = request.header("content-type", media_type);
            }
            harness.send(request.body(Body::from("{}")).unwrap()).await.envelope(415);
        }
    }
    let with_charset = Harness::request("POST", "/v2/pre-recorded")
        .header("content-type", "Application/JSON; charset=utf-8")
        .body(Body::from(json!({ "audio_url": AUDIO }).to_string()));
    assert_eq!(harness.send(with_charset.unwrap()).await.status, 200);
}

#[tokio::test]
async fn bodies_over_the_limit_are_413_announced_or_not() {
    let auth = Auth { bootstrap_key: Some(Secret::new(KEY)), ..Auth::default() };
    let harness = Harness::with(|settings| settings.limits.json_body_bytes = 1024, auth).await;
    let body_of = |length: usize| {
        let empty = json!({ "audio_url": AUDIO, "x": "" }).to_string().len();
        json!({ "audio_url": AUDIO, "x": "y".repeat(length - empty) }).to_string()
    };
    assert_eq!(harness.post_text("/v2/pre-recorded", body_of(1024)).await.status, 200);
    harness.post_text("/v2/pre-recorded", body_of(1025)).await.envelope(413);
    let announced = Harness::request("POST", "/v2/pre-recorded")
        .header("content-type", "application/json")
        .header("content-length", "1025")
        .body(Body::from_stream(futures_util::stream::pending::<std::io::Result<bytes::Bytes>>()));
    harness.send(announced.unwrap()).await.envelope(413);
}

#[tokio::test]
async fn contradictions_are_422_and_say_what_to_change() {
    let harness = Harness::new().await;
    let body = json!({ "audio_url": AUDIO, "pii_redaction": true, "translation": true });
    let envelope = harness.post("/v2/pre-recorded", &body).await.envelope(422);
    assert_eq!(envelope["validation_errors"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn a_stopping_host_takes_nothing_new_and_says_when_to_come_back() {
    let harness = Harness::new().await;
    assert_eq!(harness.get("/readyz").await.json(), json!({ "status": "ready" }));
    let created = harness.post("/v2/pre-recorded", &json!({ "audio_url": AUDIO })).await.json();
    harness.api.draining.cancel();
    for answer in [harness.post("/v2/pre-recorded", &Value::Null).await, harness.get("/readyz").await] {
        answer.envelope(503);
        assert_eq!(answer.header("retry-after"), "5");
    }
    assert_eq!(harness.get("/healthz").await.json(), json!({ "status": "ok" }));
    let path = format!("/v2/pre-recorded/{}", created["id"].as_str().unwrap());
    assert_eq!(harness.get(&path).await.status, 200);
}

#[tokio::test]
async fn health_needs_no_key() {
    let harness = Harness::new().await;
    for path in ["/healthz", "/readyz", "/healthz/"] {
        let bare = Request::builder().uri(path).body(Body::empty()).unwrap();
        assert_eq!(harness.send(bare).await.status, 200, "{path}");
    }
}

/// Takes the tables away from a host that has answered, and asks again; `None` when that took longer
/// than its answers are good for.
async fn answers_without_tables() -> Option<(Harness, Vec<StatusCode>)> {
    let harness = Harness::new().await;
    let asked = Instant::now();
    for path in WITHOUT_KEY {
        assert_eq!(harness.get(path).await.status, 200);
    }
    harness.execute("DROP TABLE probe").await;
    harness.execute("ALTER TABLE deliveries RENAME TO gone").await;
    let mut again = Vec::new();
    for path in WITHOUT_KEY {
        again.push(harness.get(path).await.status);
    }
    (asked.elapsed() < Duration::from_secs(1)).then_some((harness, again))
}

#[tokio::test]
async fn what_anybody_may_ask_costs_the_database_one_question_a_second() {
    let mut answered = None;
    // A machine that is busy may need several tries.
    for _ in 0..20 {
        answered = answers_without_tables().await;
        if answered.is_some() {
            break;
        }
    }
    let (harness, again) = answered.expect("four questions fit into a second");
    assert_eq!(again, [StatusCode::OK; 2]);
    tokio::time::sleep(Duration::from_secs(1)).await;
    for path in WITHOUT_KEY {
        assert_eq!(harness.get(path).await.status, 500, "{path}");
    }
}
