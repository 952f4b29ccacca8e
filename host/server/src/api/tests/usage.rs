//! Usage through the router.

use axum::body::Body;
use serde_json::{Map, json};
use sha2::{Digest, Sha256};

use super::{AUDIO, Harness, KEY};
use crate::config::{ApiKey, Auth, Secret};
use crate::model::id::{BlobArea, BlobKey};
use crate::store::{Ending, Outcome, no_limit};

/// 2026-01-31 12:00 UTC.
const NOON_MS: i64 = 1_769_860_800_000;

async fn harness() -> Harness {
    let other = ApiKey { account: "other".into(), sha256: Sha256::digest(b"theirs").into(), is_admin: false };
    let auth = Auth { bootstrap_key: Some(Secret::new(KEY)), keys: vec![other], ..Auth::default() };
    Harness::with(|_| {}, auth).await
}

/// A job that ended at `completed_ms`, through the queue.
async fn run_job(harness: &Harness, completed_ms: i64, billed_s: f64) {
    harness.post("/v2/pre-recorded", &json!({ "audio_url": AUDIO })).await;
    let Ok(Some(claimed)) = harness.api.store.claim("w", i64::MAX / 2, 1000, &no_limit()).await else {
        panic!("a job waits")
    };
    let result_key = BlobKey::new(BlobArea::Result);
    let ending = Ending {
        outcome: Outcome::Done { result_key, billed_s },
        completed_ms,
        post_session_metadata: Map::new(),
        deliveries: Vec::new(),
    };
    assert!(harness.api.store.finish(&claimed.lease, ending).await.unwrap());
}

#[tokio::test]
async fn usage_adds_up_by_day_and_is_cut_by_from_and_to() {
    let harness = harness().await;
    let day_ms = 24 * 3600 * 1000;
    for (at, billed_s) in [(NOON_MS, 1.5), (NOON_MS + 1, 2.5), (NOON_MS + day_ms, 10.0)] {
        run_job(&harness, at, billed_s).await;
    }
    let usage = harness.get("/v2/usage").await.json();
    assert_eq!((&usage["jobs"], &usage["billed_seconds"]), (&json!(3), &json!(14.0)), "{usage}");
    assert_eq!((&usage["account"], &usage["plan"]), (&json!("default"), &json!("enterprise")));
    assert_eq!(usage["credits"], json!(null));
    assert_eq!(
        usage["days"],
        json!([
            { "day": "2026-01-31", "kind": "pre-recorded", "jobs": 2, "billed_seconds": 4.0 },
            { "day": "2026-02-01", "kind": "pre-recorded", "jobs": 1, "billed_seconds": 10.0 },
        ])
    );
    for (query, jobs) in [
        ("from=2026-02-01", 1),
        ("to=2026-01-31", 2),
        ("from=2026-01-31&to=2026-02-01", 3),
        ("from=2026-02-02", 0),
        ("from=2026-02-02&from=2026-02-01", 1),
    ] {
        assert_eq!(harness.get(&format!("/v2/usage?{query}")).await.json()["jobs"], jobs, "{query}");
    }
    harness.get("/v2/usage?from=2026-02-02&to=2026-02-01").await.envelope(422);
    for query in ["from=yesterday", "to=2026-02-30", "to=", "to=2026-1-1"] {
        harness.get(&format!("/v2/usage?{query}")).await.envelope(400);
    }
}

#[tokio::test]
async fn an_account_sees_its_own_usage_and_only_the_operator_sees_all() {
    let harness = harness().await;
    run_job(&harness, NOON_MS, 5.0).await;
    let theirs = |path: &str| {
        let request = axum::http::Request::get(path).header("host", "a.example");
        request.header("x-service-key", "theirs").body(Body::empty()).unwrap()
    };
    let own = harness.send(theirs("/v2/usage")).await.json();
    assert_eq!((&own["account"], &own["jobs"]), (&json!("other"), &json!(0)));
    assert_eq!(own["days"], json!([]));
    harness.send(theirs("/v2/admin/usage")).await.envelope(403);
    harness.send(theirs("/v2/admin/usage?account=default")).await.envelope(403);

    let all = harness.get("/v2/admin/usage").await.json();
    assert_eq!(all["accounts"].as_array().map(Vec::len), Some(1));
    assert_eq!(all["accounts"][0]["billed_seconds"], 5.0);
    let one = harness.get("/v2/admin/usage?account=default").await.json();
    assert_eq!(one["accounts"][0]["days"][0]["jobs"], 1);
    let none = harness.get("/v2/admin/usage?account=nobody").await.json();
    assert_eq!(none["accounts"][0]["jobs"], 0);
}
