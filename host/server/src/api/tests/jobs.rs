//! Jobs through the router: created, read, and seen by their owner only.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{AUDIO, Harness, KEY, result_of};
use crate::config::{ApiKey, Auth, Secret};
use crate::model::id::{AccountId, JobId};
use crate::model::job::AudioSource;
use crate::store::Outcome;

#[tokio::test]
async fn a_created_job_can_be_read_under_the_returned_address() {
    let harness = Harness::new().await;
    for collection in ["/v2/pre-recorded", "/v2/transcription"] {
        for slash in ["", "/"] {
            let created = harness.post(&format!("{collection}{slash}"), &json!({ "audio_url": AUDIO })).await;
            assert_eq!(created.status, 200);
            let body = created.json();
            let id = body["id"].as_str().unwrap();
            assert_eq!(body["result_url"], format!("http://speech.example{collection}/{id}"));

            let path = body["result_url"].as_str().unwrap().strip_prefix("http://speech.example").unwrap();
            let job = harness.get(&format!("{path}{slash}")).await;
            assert_eq!(job.status, 200);
            assert_eq!(job.json()["id"], id);
        }
    }
}

#[tokio::test]
async fn a_waiting_job_has_the_envelope_of_the_specification() {
    let harness = Harness::new().await;
    let metadata = json!({ "user": "x", "n": [1, 2.5, null] });
    let created = harness
        .post(
            "/v2/pre-recorded",
            &json!({ "audio_url": AUDIO, "custom_metadata": metadata, "model": "solaria-1" }),
        )
        .await;
    let id = created.json()["id"].clone();
    let job = harness.get(&format!("/v2/pre-recorded/{}", id.as_str().unwrap())).await.json();
    assert_eq!(job["id"], id);
    assert_eq!(job["request_id"], created.header("x-request-id"));
    assert_eq!(job["version"], 2);
    assert_eq!(job["status"], "queued");
    assert_eq!(job["kind"], "pre-recorded");
    assert_eq!(job["custom_metadata"], metadata);
    assert_eq!(job["post_session_metadata"], json!({}));
    for member in ["completed_at", "error_code", "result"] {
        assert!(job.get(member).is_some_and(Value::is_null), "{member}");
    }
    assert_eq!(job["file"]["source"], AUDIO);
    for member in ["id", "filename", "audio_duration", "number_of_channels"] {
        assert!(job["file"].get(member).is_some(), "{member}");
    }
    assert_eq!(job["request_params"]["audio_url"], AUDIO);
    assert_eq!(job["request_params"]["model"], "solaria-1");
    assert_eq!(job["request_params"]["subtitles"], false);
    let created_at = job["created_at"].as_str().unwrap();
    assert!(created_at.len() == 24 && created_at.ends_with('Z'), "{created_at}");
}

#[tokio::test]
async fn a_finished_job_shows_the_stored_result_as_it_is() {
    let harness = Harness::new().await;
    let created = harness.post("/v2/pre-recorded", &json!({ "audio_url": AUDIO })).await.json();
    // With a number that would not be written so again.
    let stored = result_of("a \"b\" é").replace("1.5", "1.50");
    let stored = stored.as_str();
    harness.finish_with(stored).await;

    let answer = harness.get(&format!("/v2/pre-recorded/{}", created["id"].as_str().unwrap())).await;
    assert_eq!(answer.header("content-type"), "application/json");
    assert!(String::from_utf8_lossy(&answer.bytes).contains(stored));
    let job = answer.json();
    assert_eq!(job["status"], "done");
    assert!(job["completed_at"].as_str().is_some_and(|date| date.ends_with('Z')));
    assert_eq!(job["error_code"], Value::Null);
    assert_eq!(job["file"]["audio_duration"], 1.5);
    assert_eq!(job["file"]["number_of_channels"], 2);
}

#[tokio::test]
async fn a_failed_job_shows_its_code_and_no_result() {
    let harness = Harness::new().await;
    let created = harness.post("/v2/pre-recorded", &json!({ "audio_url": AUDIO })).await.json();
    harness.finish(Outcome::Error { error_code: 422 }).await;
    let job = harness.get(&format!("/v2/pre-recorded/{}", created["id"].as_str().unwrap())).await.json();
    assert_eq!((&job["status"], &job["error_code"]), (&json!("error"), &json!(422)));
    assert_eq!(job["result"], Value::Null);
    assert!(job["completed_at"].is_string());
    assert_eq!(job["post_session_metadata"]["why"], "test");
}

#[tokio::test]
async fn jobs_and_files_of_other_accounts_do_not_exist() {
    let auth = Auth {
        bootstrap_key: Some(Secret::new(KEY)),
        keys: vec![ApiKey {
            account: "other".into(),
            sha256: Sha256::digest(b"theirs").into(),
            is_admin: false,
        }],
        ..Auth::default()
    };
    let harness = Harness::with(|_| {}, auth).await;
    let created = harness.post("/v2/pre-recorded", &json!({ "audio_url": AUDIO })).await.json();
    let path = format!("/v2/pre-recorded/{}", created["id"].as_str().unwrap());
    assert_eq!(harness.get(&path).await.status, 200);
    let foreign = Harness::request("GET", &path).body(Body::empty()).map(|mut request| {
        request.headers_mut().insert("x-service-key", "theirs".parse().unwrap());
        request
    });
    harness.send(foreign.unwrap()).await.envelope(404);
}

#[tokio::test]
async fn links_stay_on_the_origin_that_the_client_used() {
    let harness = Harness::new().await;
    let request = Harness::request("POST", "/v2/pre-recorded")
        .header("content-type", "application/json")
        .header("x-forwarded-proto", "https")
        .header("x-forwarded-host", "public.example")
        .body(Body::from(json!({ "audio_url": AUDIO }).to_string()));
    let body = harness.send(request.unwrap()).await.json();
    assert!(
        body["result_url"].as_str().unwrap().starts_with("https://public.example/v2/pre-recorded/"),
        "{body}"
    );
}

#[tokio::test]
async fn an_address_of_ours_is_read_from_the_store() {
    let harness = Harness::new().await;
    let id = "6c09f2ab-9a4e-4c8c-8a34-3d6f0a1b2c3d";
    let url = format!("http://speech.example/file/{id}");
    let created = harness.post("/v2/pre-recorded", &json!({ "audio_url": url })).await.json();
    let account = AccountId("default".into());
    let job_id = JobId::parse(created["id"].as_str().unwrap()).unwrap();
    let job = harness.api.store.get_job(&account, job_id).await.unwrap().unwrap();
    assert!(matches!(job.spec.audio, AudioSource::Stored(found) if found.to_string() == id));
    // It does not exist: the job is accepted and will say so.
    assert_eq!(job.file, None);
}

#[tokio::test]
async fn addons_complete_or_refuse_their_configs() {
    let harness = Harness::new().await;
    let create = async |config: Value| {
        harness
            .post("/v2/pre-recorded", &json!({ "audio_url": AUDIO, "shout": true, "shout_config": config }))
            .await
    };
    let refused = create(json!({ "word": "quiet" })).await.envelope(400);
    assert_eq!(refused["validation_errors"], json!(["shout_config.word must be loud"]));
    let refused = create(json!({ "word": 1 })).await.envelope(400);
    assert_eq!(refused["validation_errors"], json!(["shout_config.word must be a string"]));

    let echo = async |config: Value| {
        let id = create(config).await.json()["id"].as_str().unwrap().to_owned();
        harness.get(&format!("/v2/pre-recorded/{id}")).await.json()["request_params"]["shout_config"].clone()
    };
    assert_eq!(echo(json!({})).await, json!({ "word": "HEY", "times": 3 }));
    // An add-on that fails here fails in the job; the request is accepted.
    assert_eq!(echo(json!({ "word": "crash" })).await, json!({ "word": "crash" }));
}

#[tokio::test]
async fn a_full_queue_is_answered_with_429_and_a_time_to_come_back() {
    let auth = Auth { bootstrap_key: Some(Secret::new(KEY)), ..Auth::default() };
    let harness = Harness::with(|settings| settings.limits.queued_jobs = 1, auth).await;
    let body = json!({ "audio_url": AUDIO });
    assert_eq!(harness.post("/v2/pre-recorded", &body).await.status, 200);
    let full = harness.post("/v2/pre-recorded", &body).await;
    full.envelope(429);
    assert!(full.header("retry-after").parse::<u64>().is_ok());
}

#[tokio::test]
async fn metrics_count_what_waits_and_need_no_key() {
    let h = Harness::new().await;
    crate::metrics::init();
    h.post("/v2/pre-recorded", &json!({ "audio_url": AUDIO })).await;
    let request = Request::builder().uri("/metrics").body(Body::empty()).unwrap();
    let answer = h.send(request).await;
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-type").starts_with("text/plain; version=0.0.4"));
    let text = String::from_utf8(answer.bytes).unwrap();
    assert!(text.contains("tympan_jobs{state=\"queued\"} 1"), "{text}");
    let answered = "tympan_http_request_duration_seconds_count{route=\"/v2/pre-recorded\",method=\"POST\",status=\"200\"}";
    assert!(text.contains(answered), "{text}");
}

#[tokio::test]
async fn metadata_as_deep_as_a_body_may_be_can_be_read_again() {
    let harness = Harness::new().await;
    let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!({ "a": inner }));
    let body = |levels: usize| json!({ "audio_url": AUDIO, "custom_metadata": nested(levels) });
    let created = harness.post("/v2/pre-recorded", &body(119)).await.json();
    let path = format!("/v2/pre-recorded/{}", created["id"].as_str().unwrap());
    assert_eq!(harness.get(&path).await.json()["custom_metadata"], nested(119));
    harness.patch(&path, &json!({ "post_session_metadata": nested(119) })).await;
    assert_eq!(harness.get(&path).await.json()["post_session_metadata"]["a"], nested(118));
    let refused = harness.post("/v2/pre-recorded", &body(120)).await.envelope(400);
    assert_eq!(refused["validation_errors"], json!(["body must be nested in at most 120 levels"]));
}
