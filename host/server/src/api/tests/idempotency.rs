//! Requests that carry an idempotency key are made once.

use axum::body::Body;
use axum::http::HeaderValue;
use futures_util::future::join_all;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{AUDIO, Answer, Harness, KEY};
use crate::config::{ApiKey, Auth, Secret};
use crate::model::date;
use crate::store::{Outcome, REPEAT_WINDOW_MS};

const JOBS: &str = "SELECT COUNT(*) FROM jobs";

async fn send(harness: &Harness, path: &str, keys: &[&[u8]], body: &str) -> Answer {
    let request = Harness::request("POST", path).header("content-type", "application/json");
    let mut request = request.body(Body::from(body.to_owned())).unwrap();
    for key in keys {
        request.headers_mut().append("idempotency-key", HeaderValue::from_bytes(key).unwrap());
    }
    harness.send(request).await
}

async fn post(harness: &Harness, key: &str, body: &Value) -> Answer {
    send(harness, "/v2/pre-recorded", &[key.as_bytes()], &body.to_string()).await
}

#[tokio::test]
async fn a_repetition_gets_the_same_answer_and_another_body_409() {
    let harness = Harness::new().await;
    let body = json!({ "audio_url": AUDIO, "sentences": true });
    let first = post(&harness, "one", &body).await;
    let same = format!(r#"{{ "sentences": true, "audio_url": "{AUDIO}" }}"#);
    let again = send(&harness, "/v2/pre-recorded/", &[b"one"], &same).await;
    assert_eq!((again.status.as_u16(), again.json()), (200, first.json()));
    assert_eq!(harness.count(JOBS).await, 1);

    post(&harness, "one", &json!({ "audio_url": AUDIO })).await.envelope(409);
    send(&harness, "/v2/transcription", &[b"one"], &same).await.envelope(409);
    assert_ne!(post(&harness, "two", &body).await.json()["id"], first.json()["id"]);
    assert_eq!(harness.count(JOBS).await, 2);
    // What was refused has not been made.
    post(&harness, "three", &json!({})).await.envelope(400);
    assert_eq!(post(&harness, "three", &body).await.status, 200);
}

#[tokio::test]
async fn without_a_key_nothing_is_the_same() {
    let harness = Harness::new().await;
    for _ in 0..3 {
        harness.create(json!({ "custom_metadata": { "n": 1 } })).await;
    }
    assert_eq!(harness.count(JOBS).await, 3);
}

#[tokio::test]
async fn of_many_at_once_one_makes_the_job() {
    let harness = Harness::new().await;
    let body = json!({ "audio_url": AUDIO });
    let answers = join_all((0..32).map(|_| post(&harness, "same", &body))).await;
    for answer in &answers {
        assert_eq!((answer.status.as_u16(), answer.json()), (200, answers[0].json()));
    }
    assert_eq!(harness.count(JOBS).await, 1);
    // Bodies that differ: one of them wins, the others learn of it.
    let bodies =
        [1, 2, 3, 4, 5, 6, 7, 8].map(|n| json!({ "audio_url": AUDIO, "custom_metadata": { "n": n } }));
    let answers = join_all(bodies.iter().map(|body| post(&harness, "differ", body))).await;
    let accepted = answers.iter().filter(|answer| answer.status == 200).count();
    let refused = answers.iter().filter(|answer| answer.status == 409).count();
    assert_eq!((accepted, refused, harness.count(JOBS).await), (1, 7, 2));
}

#[tokio::test]
async fn a_repetition_is_held_back_by_no_limit_and_outlives_its_job() {
    let auth = Auth { bootstrap_key: Some(Secret::new(KEY)), ..Auth::default() };
    let harness = Harness::with(|settings| settings.limits.queued_jobs = 1, auth).await;
    let body = json!({ "audio_url": AUDIO });
    let first = post(&harness, "k", &body).await.json();
    post(&harness, "other", &body).await.envelope(429);
    assert_eq!(post(&harness, "k", &body).await.json(), first);

    harness.finish(Outcome::Error { error_code: 400 }).await;
    let path = format!("/v2/pre-recorded/{}", first["id"].as_str().unwrap());
    assert_eq!(harness.delete(&path).await.status, 202);
    assert_eq!(post(&harness, "k", &body).await.json(), first);
    assert_eq!(harness.count(JOBS).await, 0);
}

#[tokio::test]
async fn accounts_have_keys_of_their_own() {
    let theirs =
        ApiKey { account: "other".into(), sha256: Sha256::digest(b"theirs").into(), is_admin: false };
    let auth = Auth { bootstrap_key: Some(Secret::new(KEY)), keys: vec![theirs], ..Auth::default() };
    let harness = Harness::with(|_| {}, auth).await;
    let first = post(&harness, "k", &json!({ "audio_url": AUDIO })).await.json();
    let request = Harness::request("POST", "/v2/pre-recorded")
        .header("content-type", "application/json")
        .header("idempotency-key", "k");
    let body = json!({ "audio_url": AUDIO, "sentences": false }).to_string();
    let mut request = request.body(Body::from(body)).unwrap();
    request.headers_mut().insert("x-service-key", "theirs".parse().unwrap());
    let theirs = harness.send(request).await;
    assert_eq!(theirs.status, 200);
    assert_ne!(theirs.json()["id"], first["id"]);
}

#[tokio::test]
async fn a_key_is_remembered_for_24_hours() {
    let harness = Harness::new().await;
    let body = json!({ "audio_url": AUDIO });
    let first = post(&harness, "k", &body).await.json();
    let store = &harness.api.store;
    assert_eq!(store.forget_marks(date::now_ms() + REPEAT_WINDOW_MS - 60_000, 9).await.unwrap(), 0);
    harness.execute("UPDATE idempotency_keys SET created_ms = created_ms - 86340000").await;
    assert_eq!(post(&harness, "k", &body).await.json(), first);
    harness.execute("UPDATE idempotency_keys SET created_ms = created_ms - 61000").await;
    // Too old to count, though not swept yet.
    let second = post(&harness, "k", &json!({ "audio_url": AUDIO, "sentences": true })).await;
    assert_eq!(second.status, 200);
    assert_ne!(second.json()["id"], first["id"]);
    assert_eq!(store.forget_marks(date::now_ms() + REPEAT_WINDOW_MS + 60_000, 9).await.unwrap(), 1);
}

#[tokio::test]
async fn keys_have_1_to_255_visible_ascii_characters() {
    let harness = Harness::new().await;
    let body = json!({ "audio_url": AUDIO }).to_string();
    let longest = [b'k'; 255];
    for key in [&b"k"[..], b"!~", &longest[..254], &longest] {
        assert_eq!(send(&harness, "/v2/pre-recorded", &[key], &body).await.status, 200, "{key:?}");
    }
    let too_long = [b'k'; 256];
    for keys in [&[&b""[..]][..], &[&too_long], &[b"a b"], &[b"a\tb"], &["é".as_bytes()], &[b"a", b"a"]] {
        let envelope = send(&harness, "/v2/pre-recorded", keys, &body).await.envelope(400);
        assert!(envelope["validation_errors"][0].as_str().unwrap().starts_with("idempotency-key must "));
    }
}
