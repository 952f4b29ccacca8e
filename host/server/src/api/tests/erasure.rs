//! Deleting jobs: rows and bytes go, and only those of the job.

use std::time::{Duration, SystemTime};

use axum::body::Body;
use futures_util::future::join_all;
use serde_json::json;
use tower::ServiceExt;

use super::Harness;
use super::rows::elsewhere;
use crate::model::id::{BlobArea, BlobKey};
use crate::model::job::{AudioSource, Kind};
use crate::store::Checkpoint;

async fn blobs(harness: &Harness) -> Vec<BlobKey> {
    harness.api.blobs.all_older_than(SystemTime::now() + Duration::from_secs(60)).await.unwrap()
}

#[tokio::test]
async fn a_final_job_goes_with_all_that_belongs_to_it() {
    let harness = Harness::new().await;
    let file = harness.store_file("a.wav", b"audio").await;
    let url = format!("http://speech.example/file/{}", file.id);
    let id = harness.create(json!({ "audio_url": url, "custom_metadata": { "a": { "b": 1 } } })).await;
    harness.finish_with("{}").await;
    harness
        .execute(
            "INSERT INTO deliveries (id, account_id, job_id, event, target, url, method, attempts, created_ms)
             SELECT 'd', account_id, id, 'transcription.success', 'callback', 'u', 'POST', 0, 1 FROM jobs",
        )
        .await;
    let path = format!("/v2/pre-recorded/{id}");
    assert_eq!(blobs(&harness).await.len(), 2);

    let answer = harness.delete(&path).await;
    assert_eq!((answer.status.as_u16(), answer.bytes.len()), (202, 0));
    harness.get(&path).await.envelope(404);
    harness.get(&format!("{path}/file")).await.envelope(404);
    harness.get(&format!("/file/{}", file.id)).await.envelope(404);
    harness.patch(&path, &json!({ "post_session_metadata": {} })).await.envelope(404);
    harness.delete(&path).await.envelope(404);
    assert!(blobs(&harness).await.is_empty());
    let rows = "SELECT (SELECT COUNT(*) FROM jobs) + (SELECT COUNT(*) FROM job_metadata)
                     + (SELECT COUNT(*) FROM deliveries) + (SELECT COUNT(*) FROM files)";
    assert_eq!(harness.count(rows).await, 0);
}

#[tokio::test]
async fn a_job_that_is_not_final_is_403_in_every_collection() {
    let harness = Harness::new().await;
    let id = harness.create(json!({})).await;
    let live = harness.add(Kind::Live, elsewhere(), 1).await;
    let paths = [
        format!("/v2/pre-recorded/{id}"),
        format!("/v2/transcription/{id}"),
        format!("/v2/live/{live}"),
        format!("/v2/transcription/{live}"),
    ];
    for path in &paths {
        harness.delete(path).await.envelope(403);
    }
    let lease = harness.claim().await.lease;
    let blob_key = harness.api.blobs.put(BlobArea::Checkpoint, b"x".to_vec()).await.unwrap();
    let checkpoint = Checkpoint { step: "decode".into(), digest: "d".into(), blob_key };
    assert!(harness.api.store.save_checkpoint(&lease, checkpoint).await.unwrap());
    harness.delete(&paths[0]).await.envelope(403);
    assert_eq!(harness.get(&paths[0]).await.json()["status"], "processing");
    assert_eq!(blobs(&harness).await.len(), 1);
    // A job that has ended with its checkpoints takes them along.
    harness.execute("UPDATE jobs SET status = 'error', error_code = 500, completed_ms = 1").await;
    for path in [&paths[1], &paths[2]] {
        assert_eq!(harness.delete(path).await.status, 202);
    }
    assert!(blobs(&harness).await.is_empty());
}

#[tokio::test]
async fn a_file_of_several_jobs_stays_until_the_last_of_them() {
    let harness = Harness::new().await;
    let file = harness.store_file("a.wav", b"audio").await;
    let mut paths = Vec::new();
    for at_ms in 0..2 {
        let id = harness.add(Kind::PreRecorded, AudioSource::Stored(file.id), at_ms).await;
        paths.push(format!("/v2/pre-recorded/{id}"));
        harness.finish_with("{}").await;
    }
    assert_eq!(harness.delete(&paths[0]).await.status, 202);
    assert_eq!(harness.get(&format!("{}/file", paths[1])).await.bytes, b"audio");
    assert_eq!(harness.get(&format!("/file/{}", file.id)).await.status, 200);
    assert_eq!(harness.delete(&paths[1]).await.status, 202);
    harness.get(&format!("/file/{}", file.id)).await.envelope(404);
    assert!(blobs(&harness).await.is_empty());
}

#[tokio::test]
async fn of_many_at_once_one_deletes() {
    let harness = Harness::new().await;
    for _ in 0..5 {
        let path = format!("/v2/pre-recorded/{}", harness.create(json!({})).await);
        harness.finish_with("{}").await;
        let answers = join_all((0..16).map(|_| harness.delete(&path))).await;
        let deleted = answers.iter().filter(|answer| answer.status == 202).count();
        let missing = answers.iter().filter(|answer| answer.status == 404).count();
        assert_eq!((deleted, missing), (1, 15));
        assert!(blobs(&harness).await.is_empty());
    }
}

#[tokio::test]
async fn bytes_that_cannot_be_removed_have_no_row_any_more() {
    let harness = Harness::new().await;
    let path = format!("/v2/pre-recorded/{}", harness.create(json!({})).await);
    let key = harness.finish_with("{}").await;
    // A folder in the place of the file cannot be removed as one.
    let place = harness.api.blobs.path(&key);
    std::fs::remove_file(&place).unwrap();
    std::fs::create_dir(&place).unwrap();
    assert_eq!(harness.delete(&path).await.status, 202);
    harness.get(&path).await.envelope(404);
    let unmentioned = harness.api.store.unmentioned_blobs(std::slice::from_ref(&key)).await.unwrap();
    assert_eq!(unmentioned, [key], "the sweeper takes what no row names");
}

#[tokio::test]
async fn a_client_that_goes_away_leaves_no_bytes_of_a_job_without_rows() {
    let harness = Harness::new().await;
    let path = format!("/v2/pre-recorded/{}", harness.create(json!({})).await);
    harness.finish_with("{}").await;
    let request = Harness::request("DELETE", &path).body(Body::empty()).unwrap();
    let mut deleting = Box::pin(harness.router.clone().oneshot(request));
    while harness.count("SELECT COUNT(*) FROM jobs").await > 0 {
        assert!(futures_util::poll!(&mut deleting).is_pending());
    }
    drop(deleting);
    harness.api.tasks.close();
    tokio::time::timeout(Duration::from_secs(5), harness.api.tasks.wait()).await.unwrap();
    assert!(blobs(&harness).await.is_empty());
}
