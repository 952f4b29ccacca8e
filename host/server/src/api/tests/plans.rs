//! What plans allow, through the router.

use std::collections::HashMap;
use std::time::Instant;

use axum::body::Body;
use axum::http::Request;
use futures_util::future::join_all;
use serde_json::{Map, json};

use super::rows::elsewhere;
use super::{AUDIO, Harness};
use crate::model::id::{AccountId, BlobArea, BlobKey};
use crate::model::job::{AudioSource, Kind};
use crate::store::{Ending, Outcome, no_limit};

async fn post(harness: &Harness) -> super::Answer {
    harness.post("/v2/pre-recorded", &json!({ "audio_url": AUDIO })).await
}

/// Lets the oldest job end with a result.
async fn finish_one(harness: &Harness, billed_s: f64) {
    let store = &harness.api.store;
    let Ok(Some(claimed)) = store.claim("w", i64::MAX / 2, 1000, &no_limit()).await else {
        panic!("a job waits")
    };
    let ending = Ending {
        outcome: Outcome::Done { result_key: BlobKey::new(BlobArea::Result), billed_s },
        completed_ms: 0,
        post_session_metadata: Map::new(),
        deliveries: Vec::new(),
    };
    assert!(store.finish(&claimed.lease, ending).await.unwrap());
}

#[tokio::test]
async fn a_plan_that_rejects_lets_its_number_in_and_the_next_when_one_has_ended() {
    let harness =
        Harness::planned("[plans.enterprise]\nconcurrent_prerecorded = 2\nwhen_full = \"reject\"").await;
    for _ in 0..2 {
        assert_eq!(post(&harness).await.status, 200);
    }
    let refused = post(&harness).await;
    let envelope = refused.envelope(429);
    assert!(envelope["message"].as_str().unwrap().contains("plan allows"), "{envelope}");
    assert_eq!(refused.header("retry-after"), "5");
    finish_one(&harness, 1.0).await;
    assert_eq!(post(&harness).await.status, 200);
    post(&harness).await.envelope(429);
}

#[tokio::test]
async fn a_plan_that_queues_takes_more_up_to_its_queue() {
    let harness = Harness::planned("[plans.enterprise]\nconcurrent_prerecorded = 1\nqueued_jobs = 3").await;
    for _ in 0..3 {
        assert_eq!(post(&harness).await.status, 200);
    }
    post(&harness).await.envelope(429);
}

#[tokio::test]
async fn credits_are_used_up_by_billed_time_and_shown() {
    let harness = Harness::planned("[plans.enterprise]\ncredits = 1\nprice_per_hour = 0.5").await;
    for (billed_s, left) in [(3600.0, 0.5), (3599.0, 0.5 / 3600.0), (10.0, 0.0)] {
        assert_eq!(post(&harness).await.status, 200);
        finish_one(&harness, billed_s).await;
        let credits = harness.get("/v2/usage").await.json()["credits"].clone();
        assert!((credits["left"].as_f64().unwrap() - left).abs() < 1e-9, "{credits}");
    }
    let refused = post(&harness).await;
    let envelope = refused.envelope(429);
    assert!(envelope["message"].as_str().unwrap().contains("credits"), "{envelope}");
    assert_eq!(refused.header("retry-after"), "3600");
    assert_eq!(harness.get("/v2/usage").await.json()["jobs"], 3, "results can still be read");
}

#[tokio::test]
async fn a_key_that_asks_too_often_is_told_when_to_come_back() {
    let harness = Harness::planned("[plans.enterprise]\nrequests_per_s = 1\nburst = 5").await;
    let begun = Instant::now();
    let answers = join_all((0..20).map(|_| harness.get("/v2/usage"))).await;
    let lasted_s = begun.elapsed().as_secs() as usize;
    let (admitted, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert!((5..=5 + lasted_s).contains(&admitted.len()), "{} in {lasted_s} s", admitted.len());
    assert!(!refused.is_empty());
    for answer in refused {
        answer.envelope(429);
        assert_eq!(answer.header("retry-after"), "1");
    }
    // Strangers are told that they are strangers, however often they ask.
    for number in 0..20 {
        let stranger = Request::get("/v2/usage").header("x-service-key", format!("unknown-{number}"));
        harness.send(stranger.body(Body::empty()).unwrap()).await.envelope(401);
    }
    assert_eq!(harness.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn what_was_kept_before_cannot_be_read_once_the_plan_keeps_nothing() {
    let harness = Harness::planned("[plans.none]\nzero_retention = true").await;
    let file = harness.store_file("a.wav", b"bytes").await;
    let recorded = harness.add(Kind::PreRecorded, AudioSource::Stored(file.id), 1).await;
    let live = harness.add(Kind::Live, elsewhere(), 1).await;
    let reads = [
        format!("/file/{}", file.id),
        format!("/v2/pre-recorded/{recorded}/file"),
        format!("/v2/pre-recorded/{recorded}"),
        format!("/v2/transcription/{recorded}/file"),
        format!("/v2/transcription/{live}"),
        format!("/v2/live/{live}"),
        "/v2/pre-recorded".to_owned(),
        "/v2/live".to_owned(),
        "/v2/transcription".to_owned(),
    ];
    for path in &reads {
        assert_eq!(harness.get(path).await.status, 200, "{path}");
    }
    let account = AccountId("default".to_owned());
    harness.api.policies.assign(HashMap::from([(account, "none".to_owned())]));
    for path in &reads {
        harness.get(path).await.envelope(403);
    }
    let job = format!("/v2/pre-recorded/{recorded}");
    harness.patch(&job, &json!({ "post_session_metadata": { "a": 1 } })).await.envelope(403);
    assert_eq!(harness.get("/v2/usage").await.status, 200);
    finish_one(&harness, 1.0).await;
    assert_eq!(harness.delete(&job).await.status, 202, "what is left can be deleted");
}
