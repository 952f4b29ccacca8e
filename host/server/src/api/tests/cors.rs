//! What browsers are told about pages of other origins.

use axum::body::Body;
use axum::http::Request;
use serde_json::json;

use super::{Answer, Harness, KEY};
use crate::config::{Auth, Secret};

const PAGE: &str = "https://app.example";
const ALLOWED: &str = "access-control-allow-origin";

/// An API that allows these origins, and reads the key from a second header too.
async fn allowing(origins: &[&str]) -> Harness {
    let auth = Auth {
        header_aliases: vec!["x-gladia-key".into()],
        bootstrap_key: Some(Secret::new(KEY)),
        ..Auth::default()
    };
    let origins = origins.iter().copied().map(str::to_owned).collect();
    Harness::with(|settings| settings.cors.allowed_origins = origins, auth).await
}

async fn from_page(harness: &Harness, origin: &str, method: &str, path: &str) -> Answer {
    harness.send(Harness::request(method, path).header("origin", origin).body(Body::empty()).unwrap()).await
}

async fn preflight(harness: &Harness, origin: &str, method: &str, path: &str) -> Answer {
    let request = Request::builder()
        .method("OPTIONS")
        .uri(path)
        .header("origin", origin)
        .header("access-control-request-method", method)
        .header("access-control-request-headers", "content-type,x-service-key");
    harness.send(request.body(Body::empty()).unwrap()).await
}

/// The parts of a header that lists things.
fn list(answer: &Answer, name: &str) -> Vec<String> {
    answer.header(name).split(',').map(|part| part.trim().to_ascii_lowercase()).collect()
}

#[tokio::test]
async fn nothing_is_said_unless_the_operator_has_named_an_origin() {
    let harness = Harness::new().await;
    preflight(&harness, PAGE, "POST", "/v2/pre-recorded").await.envelope(405);
    for path in ["/v2/pre-recorded", "/healthz", "/nowhere"] {
        let answer = from_page(&harness, PAGE, "GET", path).await;
        let said: Vec<_> = answer.headers.keys().map(|name| name.as_str()).collect();
        assert!(said.iter().all(|name| !name.starts_with("access-control") && *name != "vary"), "{said:?}");
    }
}

#[tokio::test]
async fn a_page_that_is_allowed_may_read_answers_and_errors_alike() {
    let harness = allowing(&["https://other.example", PAGE]).await;
    harness.api.draining.cancel();
    for (method, path, status) in [
        ("GET", "/v2/pre-recorded", 200),
        ("GET", "/v2/pre-recorded/nothing", 404),
        ("PUT", "/v2/pre-recorded", 405),
        ("GET", "/nowhere", 404),
        // Refused before any handler is asked.
        ("POST", "/v2/pre-recorded", 503),
    ] {
        let answer = from_page(&harness, PAGE, method, path).await;
        assert_eq!((answer.status.as_u16(), answer.header(ALLOWED)), (status, PAGE), "{path}");
        assert!(list(&answer, "vary").contains(&"origin".to_owned()), "{:?}", answer.headers);
        let readable = list(&answer, "access-control-expose-headers");
        for name in ["retry-after", "content-range", "x-request-id", "x-aipi-call-id", "content-disposition"]
        {
            assert!(readable.contains(&name.to_owned()), "{name} in {readable:?}");
        }
        assert_eq!(answer.header("access-control-allow-credentials"), "");
    }
}

#[tokio::test]
async fn refusals_of_a_key_or_a_body_are_readable_too() {
    let auth = Auth { bootstrap_key: Some(Secret::new(KEY)), ..Auth::default() };
    let change = |settings: &mut super::ApiSettings| {
        settings.cors.allowed_origins = vec![PAGE.to_owned()];
        settings.limits.json_body_bytes = 1024;
    };
    let harness = Harness::with(change, auth).await;
    let bare = Request::builder().uri("/v2/live").header("origin", PAGE).body(Body::empty()).unwrap();
    let post = |body: String| {
        Harness::request("POST", "/v2/pre-recorded")
            .header("origin", PAGE)
            .header("content-type", "application/json")
            .body(Body::from(body))
            .unwrap()
    };
    let too_large = json!({ "audio_url": "x".repeat(1024) }).to_string();
    for (request, status) in [(bare, 401), (post(too_large), 413), (post("{}".to_owned()), 400)] {
        let answer = harness.send(request).await;
        answer.envelope(status);
        assert_eq!(answer.header(ALLOWED), PAGE);
    }
}

#[tokio::test]
async fn other_pages_are_told_nothing_and_the_operators_paths_are_for_no_page() {
    let harness = allowing(&[PAGE]).await;
    for (origin, path) in [
        ("https://evil.example", "/v2/pre-recorded"),
        ("http://app.example", "/v2/pre-recorded"),
        ("https://app.example.evil.example", "/v2/pre-recorded"),
        ("null", "/v2/pre-recorded"),
        (PAGE, "/v2/admin/webhooks"),
        (PAGE, "/v2/admin/deliveries/"),
        (PAGE, "/metrics"),
        (PAGE, "/metrics/"),
    ] {
        for answer in
            [from_page(&harness, origin, "GET", path).await, preflight(&harness, origin, "GET", path).await]
        {
            assert_eq!(answer.header(ALLOWED), "", "{origin} {path}");
            // Caches must not give this answer to a page that is allowed.
            assert!(list(&answer, "vary").contains(&"origin".to_owned()), "{:?}", answer.headers);
        }
    }
    // A path that only begins alike is like any other.
    assert_eq!(from_page(&harness, PAGE, "GET", "/metrics-x").await.header(ALLOWED), PAGE);
    // Without an origin nothing changes.
    assert_eq!(harness.get("/v2/pre-recorded").await.header(ALLOWED), "");
}

#[tokio::test]
async fn preflights_need_no_key_and_are_remembered() {
    let harness = allowing(&[PAGE]).await;
    for (method, path) in [
        ("POST", "/v2/pre-recorded"),
        ("POST", "/v2/upload/"),
        ("GET", "/v2/transcription"),
        ("HEAD", "/file/6c09f2ab-9a4e-4c8c-8a34-3d6f0a1b2c3d"),
        ("PATCH", "/v2/live/6c09f2ab-9a4e-4c8c-8a34-3d6f0a1b2c3d"),
        ("DELETE", "/v2/live/6c09f2ab-9a4e-4c8c-8a34-3d6f0a1b2c3d"),
    ] {
        let answer = preflight(&harness, PAGE, method, path).await;
        assert!(answer.status.is_success() && answer.bytes.is_empty(), "{method} {path}");
        assert_eq!(answer.header(ALLOWED), PAGE);
        assert!(list(&answer, "access-control-allow-methods").contains(&method.to_ascii_lowercase()));
        assert!(!list(&answer, "access-control-allow-methods").contains(&"put".to_owned()));
        let may_send = list(&answer, "access-control-allow-headers");
        for name in ["x-service-key", "x-gladia-key", "content-type", "range", "idempotency-key"] {
            assert!(may_send.contains(&name.to_owned()), "{name} in {may_send:?}");
        }
        assert_eq!(answer.header("access-control-max-age"), "7200");
    }
}

#[tokio::test]
async fn an_asterisk_allows_every_page() {
    let harness = allowing(&["*"]).await;
    for origin in [PAGE, "null"] {
        assert_eq!(from_page(&harness, origin, "GET", "/v2/live").await.header(ALLOWED), origin);
        assert_eq!(preflight(&harness, origin, "GET", "/v2/live").await.header(ALLOWED), origin);
    }
    assert_eq!(from_page(&harness, PAGE, "GET", "/v2/admin/usage").await.header(ALLOWED), "");
}
