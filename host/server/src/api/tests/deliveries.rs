//! Webhooks and deliveries through the router. Nothing is sent: no sender runs.

use axum::body::Body;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{AUDIO, Harness, KEY};
use crate::config::{ApiKey, Auth, Secret};
use crate::model::id::AccountId;
use crate::store::{DueShares, ErasureRecord};

const URL: &str = "https://user:pass@hooks.example/secret-path?token=t";

async fn register(harness: &Harness, more: Value) -> Value {
    let mut body = json!({ "url": URL });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let answer = harness.post("/v2/admin/webhooks", &body).await;
    assert_eq!(answer.status, 200);
    answer.json()
}

async fn send(harness: &Harness, method: &str, path: &str) -> super::Answer {
    harness.send(Harness::request(method, path).body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn a_webhook_is_registered_shown_without_its_secret_and_removed() {
    let harness = Harness::new().await;
    let webhook =
        register(&harness, json!({ "secret": "hush", "events": ["transcription.error"], "account": "shop" }))
            .await;
    assert_eq!(webhook["account"], "shop");
    assert_eq!((&webhook["has_secret"], &webhook["is_configured"]), (&json!(true), &json!(false)));
    assert!(!webhook.to_string().contains("hush"));
    let everybody = register(&harness, json!({})).await;
    assert_eq!((&everybody["account"], &everybody["events"]), (&Value::Null, &Value::Null));

    let list = harness.get("/v2/admin/webhooks").await.json();
    assert_eq!(list["webhooks"].as_array().map(Vec::len), Some(2));
    let of_shop = harness.get("/v2/admin/webhooks?account=shop").await.json();
    assert_eq!(of_shop["webhooks"], json!([webhook]));
    let path = format!("/v2/admin/webhooks/{}", webhook["id"].as_str().unwrap());
    assert_eq!(harness.get(&path).await.json(), webhook);
    let removed = send(&harness, "DELETE", &path).await;
    assert_eq!((removed.status.as_u16(), removed.bytes.len()), (204, 0));
    harness.get(&path).await.envelope(404);
    send(&harness, "DELETE", &path).await.envelope(404);
    send(&harness, "DELETE", "/v2/admin/webhooks/x").await.envelope(404);
}

#[tokio::test]
async fn a_wrong_registration_is_refused_by_field() {
    let harness = Harness::new().await;
    let refused =
        harness.post("/v2/admin/webhooks", &json!({ "url": "http://127.0.0.1/", "events": ["x"] })).await;
    assert_eq!(refused.envelope(400)["validation_errors"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn deliveries_are_listed_filtered_and_replayed() {
    let harness = Harness::new().await;
    register(&harness, json!({})).await;
    let mut jobs = Vec::new();
    for _ in 0..3 {
        jobs.push(
            harness.post("/v2/pre-recorded", &json!({ "audio_url": AUDIO })).await.json()["id"].clone(),
        );
    }
    let list = async |query: &str| harness.get(&format!("/v2/admin/deliveries{query}")).await.json();
    let all = list("").await;
    assert_eq!(all["items"].as_array().map(Vec::len), Some(3));
    let text = all.to_string();
    assert!(!text.contains("secret-path") && !text.contains("pass") && !text.contains("token"), "{text}");
    let one = list(&format!("?job={}", jobs[1].as_str().unwrap())).await["items"][0].clone();
    assert_eq!((&one["job"], &one["event"]), (&jobs[1], &json!("transcription.created")));
    assert_eq!((&one["receiver"], &one["target"]), (&json!("hooks.example:443"), &json!("webhook")));
    assert_eq!((&one["status"], &one["attempts"]), (&json!("pending"), &json!(0)));
    for (query, count) in [
        ("?status=pending", 3),
        ("?status=delivered", 0),
        ("?status=given_up", 0),
        ("?account=default", 3),
        ("?account=nobody", 0),
        ("?limit=1", 1),
        ("?limit=2", 2),
        ("?limit=100", 3),
        ("?offset=2&limit=2", 1),
    ] {
        assert_eq!(list(query).await["items"].as_array().map(Vec::len), Some(count), "{query}");
    }
    for query in ["job=x", "status=lost", "limit=0", "limit=101", "offset=-1"] {
        harness.get(&format!("/v2/admin/deliveries?{query}")).await.envelope(400);
    }

    let path = format!("/v2/admin/deliveries/{}", one["id"].as_str().unwrap());
    assert_eq!(harness.get(&path).await.json(), one);
    let replayed = send(&harness, "POST", &format!("{path}/replay")).await;
    assert_eq!((replayed.status.as_u16(), &replayed.json()["status"]), (202, &json!("pending")));
    send(&harness, "POST", "/v2/admin/deliveries/x/replay").await.envelope(404);

    // While somebody sends it, it is left alone.
    let store = &harness.api.store;
    let shares = DueShares { all: 10, per_account: 10, per_receiver: 10 };
    let due = store.due_deliveries(i64::MAX / 2, shares).await.unwrap();
    let due = due.into_iter().find(|due| one["id"] == due.id.to_string()).unwrap();
    store.claim_delivery(&due, "p", i64::MAX / 2).await.unwrap().unwrap();
    send(&harness, "POST", &format!("{path}/replay")).await.envelope(409);
}

#[tokio::test]
async fn only_the_operator_gets_there() {
    let other = ApiKey { account: "other".into(), sha256: Sha256::digest(b"theirs").into(), is_admin: false };
    let auth = Auth { bootstrap_key: Some(Secret::new(KEY)), keys: vec![other], ..Auth::default() };
    let harness = Harness::with(|_| {}, auth).await;
    for (method, path) in [
        ("GET", "/v2/admin/webhooks"),
        ("POST", "/v2/admin/webhooks"),
        ("GET", "/v2/admin/webhooks/x"),
        ("DELETE", "/v2/admin/webhooks/x"),
        ("GET", "/v2/admin/deliveries"),
        ("GET", "/v2/admin/deliveries/x"),
        ("POST", "/v2/admin/deliveries/x/replay"),
    ] {
        let request = axum::http::Request::builder().method(method).uri(path).header("host", "a.example");
        let request = request.header("content-type", "application/json");
        let theirs = request.header("x-service-key", "theirs").body(Body::from("{}")).unwrap();
        harness.send(theirs).await.envelope(403);
        let nobody = axum::http::Request::builder().method(method).uri(path).header("host", "a.example");
        harness.send(nobody.body(Body::empty()).unwrap()).await.envelope(401);
    }
}

#[tokio::test]
async fn the_operator_sees_what_was_erased() {
    let h = Harness::new().await;
    let record = |class: &str, erased_ms| ErasureRecord {
        account_id: AccountId("default".into()),
        job_id: None,
        class: class.into(),
        reason: "retention".into(),
        erased_ms,
    };
    h.api.store.record_erasures(vec![record("audio", 1), record("transcript", 2)]).await.unwrap();
    let items = h.get("/v2/admin/erasures?account=default&limit=1").await.json()["items"].clone();
    assert_eq!(
        items,
        json!([{ "account": "default", "job": null, "class": "transcript", "reason": "retention",
                 "erased_at": "1970-01-01T00:00:00.002Z" }])
    );
    assert_eq!(h.get("/v2/admin/erasures?account=other").await.json()["items"], json!([]));
    h.get("/v2/admin/erasures?limit=101").await.envelope(400);
}
