//! Who stands in which collection, and what clients attach.

use axum::body::Body;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::rows::elsewhere;
use super::{Harness, KEY};
use crate::config::{ApiKey, Auth, Secret};
use crate::model::id::JobId;
use crate::model::job::{AudioSource, Kind};
use crate::store::Outcome;

#[tokio::test]
async fn each_kind_stands_in_its_collection_and_in_the_deprecated_one() {
    let harness = Harness::new().await;
    let live = harness.add(Kind::Live, elsewhere(), 1).await;
    let recorded = harness.add(Kind::PreRecorded, elsewhere(), 2).await;
    for (collection, id, kind) in [
        ("live", &live, Some("live")),
        ("live", &recorded, None),
        ("pre-recorded", &recorded, Some("pre-recorded")),
        ("pre-recorded", &live, None),
        ("transcription", &live, Some("live")),
        ("transcription", &recorded, Some("pre-recorded")),
    ] {
        let path = format!("/v2/{collection}/{id}");
        let answer = harness.get(&path).await;
        if let Some(kind) = kind {
            assert_eq!(answer.json()["kind"], kind, "{path}");
            continue;
        }
        answer.envelope(404);
        harness.get(&format!("{path}/file")).await.envelope(404);
        harness.delete(&path).await.envelope(404);
        harness.patch(&path, &json!({ "post_session_metadata": {} })).await.envelope(404);
    }
}

#[tokio::test]
async fn ids_that_were_never_given_out_lead_nowhere() {
    let harness = Harness::new().await;
    for collection in ["live", "pre-recorded", "transcription"] {
        for id in ["x", "%ff", "00000000000000000000000000000000", &JobId::new().to_string()] {
            let path = format!("/v2/{collection}/{id}");
            harness.get(&path).await.envelope(404);
            harness.get(&format!("{path}/file/")).await.envelope(404);
            harness.delete(&path).await.envelope(404);
            harness.patch(&path, &json!({ "post_session_metadata": {} })).await.envelope(404);
        }
    }
}

#[tokio::test]
async fn what_clients_attach_is_shown_and_outlives_the_work() {
    let harness = Harness::new().await;
    let path = format!("/v2/pre-recorded/{}", harness.create(json!({})).await);
    let attach = async |body: Value| {
        let answer = harness.patch(&path, &body).await;
        assert_eq!((answer.status.as_u16(), answer.bytes.len()), (204, 0));
    };
    let shown = async || harness.get(&path).await.json()["post_session_metadata"].clone();
    attach(json!({ "post_session_metadata": { "a": 1, "b": { "c": [2] } } })).await;
    attach(json!({ "post_request_metadata": { "a": "new", "d": null } })).await;
    assert_eq!(shown().await, json!({ "a": "new", "b": { "c": [2] }, "d": null }));

    // A worker writes its progress, then its end.
    let lease = harness.claim().await.lease;
    let progress = json!({ "step": "fetch" }).as_object().unwrap().clone();
    assert!(harness.api.store.heartbeat(&lease, 0, progress).await.unwrap());
    assert_eq!(shown().await, json!({ "a": "new", "b": { "c": [2] }, "d": null, "step": "fetch" }));
    harness.finish(Outcome::Error { error_code: 500 }).await;
    attach(json!({ "post_session_metadata": { "late": true } })).await;
    let expected = json!({ "a": "new", "b": { "c": [2] }, "d": null, "why": "test", "late": true });
    assert_eq!(shown().await, expected);
}

#[tokio::test]
async fn attached_metadata_has_a_bound_at_100_kb() {
    let harness = Harness::new().await;
    let path = format!("/v2/live/{}/", harness.add(Kind::Live, elsewhere(), 1).await);
    let text_of = |size_bytes: usize| "x".repeat(size_bytes - r#"{"k":""}"#.len());
    let of_size = |size_bytes: usize| json!({ "post_session_metadata": { "k": text_of(size_bytes) } });
    for size_bytes in [99_999, 100_000] {
        assert_eq!(harness.patch(&path, &of_size(size_bytes)).await.status, 204);
    }
    harness.patch(&path, &of_size(100_001)).await.envelope(413);
    // What is there counts too.
    harness.patch(&path, &json!({ "post_session_metadata": { "j": 1 } })).await.envelope(413);
    let kept = harness.get(&path).await.json()["post_session_metadata"].clone();
    assert_eq!(kept, json!({ "k": text_of(100_000) }));
}

#[tokio::test]
async fn attaching_takes_an_object_in_a_json_body() {
    let harness = Harness::new().await;
    let path = format!("/v2/live/{}", harness.add(Kind::Live, elsewhere(), 1).await);
    for body in [json!({}), json!({ "post_session_metadata": [] }), json!([]), json!({ "a": 1 })] {
        harness.patch(&path, &body).await.envelope(400);
    }
    let request = Harness::request("PATCH", &path).header("content-type", "text/plain");
    harness.send(request.body(Body::from("{}")).unwrap()).await.envelope(415);
}

#[tokio::test]
async fn nothing_of_another_account_is_listed_changed_or_deleted() {
    let theirs =
        ApiKey { account: "other".into(), sha256: Sha256::digest(b"theirs").into(), is_admin: false };
    let auth = Auth { bootstrap_key: Some(Secret::new(KEY)), keys: vec![theirs], ..Auth::default() };
    let harness = Harness::with(|_| {}, auth).await;
    let file = harness.store_file("a.wav", b"RIFF").await;
    let id = harness.add(Kind::Live, AudioSource::Stored(file.id), 1).await;
    harness.execute("UPDATE jobs SET status = 'done', completed_ms = 2").await;
    let foreign = async |method: &str, path: &str| {
        let body = Body::from(r#"{"post_session_metadata":{"a":1}}"#);
        let mut request =
            Harness::request(method, path).header("content-type", "application/json").body(body).unwrap();
        request.headers_mut().insert("x-service-key", "theirs".parse().unwrap());
        harness.send(request).await
    };
    let path = format!("/v2/live/{id}");
    for method in ["GET", "DELETE", "PATCH"] {
        foreign(method, &path).await.envelope(404);
    }
    foreign("GET", &format!("{path}/file")).await.envelope(404);
    assert_eq!(foreign("GET", "/v2/live").await.json()["items"], json!([]));
    assert_eq!(harness.get(&path).await.json()["post_session_metadata"], json!({}));
    assert_eq!(harness.get(&format!("{path}/file")).await.bytes, b"RIFF");
}
