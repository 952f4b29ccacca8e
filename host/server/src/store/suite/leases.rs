//! Jobs in the hands of workers: claimed, lost, given back, finished.

use super::*;
use crate::model::job::{Callback, PlannedAddon};

#[tokio::test]
async fn the_oldest_due_job_goes_first_and_no_job_goes_twice() {
    let f = fixture().await;
    let second = add_job(&f.store, 2_000).await;
    let first = add_job(&f.store, 1_000).await;
    assert!(matches!(f.store.claim("a", 999, LEASE_MS, &no_limit()).await, Ok(None)), "not due yet");
    assert_eq!(claim_job(&f.store, "a", 5_000).await.job.id, first);
    assert_eq!(claim_job(&f.store, "a", 5_000).await.job.id, second);
    assert!(matches!(f.store.claim("a", 5_000, LEASE_MS, &no_limit()).await, Ok(None)));
    let job = get(&f.store, first).await;
    assert_eq!(job.status, Status::Processing);
    let counts = f.store.queue_counts().await.expect("counts");
    assert_eq!(counts, QueueCounts { queued: 0, processing: 2 });
}

#[tokio::test]
async fn a_job_that_cannot_be_read_ends_and_the_next_goes() {
    let f = fixture().await;
    f.store.insert_webhook(deliveries::webhook(Some("one"), None)).await.expect("inserts");
    let bad = add_job(&f.store, 1).await;
    let good = add_job(&f.store, 2).await;
    execute(&f, "UPDATE jobs SET spec = '{\"model\":7}' WHERE created_ms = 1").await;
    assert_eq!(claim_job(&f.store, "a", 10).await.job.id, good);
    let job = get(&f.store, bad).await;
    assert_eq!((job.status, job.completed_ms, job.error_code), (Status::Error, Some(10), Some(500)));
    assert_eq!(job.post_session_metadata["error"]["name"], "internal");
    let told = f.store.deliveries_of(bad).await.expect("reads");
    assert_eq!(told.last().map(|delivery| delivery.event), Some(Event::TranscriptionError));
    assert!(matches!(f.store.claim("a", 10, LEASE_MS, &no_limit()).await, Ok(None)));
}

#[tokio::test]
async fn the_callback_of_a_job_that_cannot_be_read_is_told_as_far_as_it_is_known() {
    let f = fixture().await;
    let mut ids = Vec::new();
    for created_ms in 1..=4 {
        let mut job = new_job(created_ms);
        let url = "http://example.com/hook".to_owned();
        job.spec.callback = Some(Callback { url, method: CallbackMethod::Put });
        job.spec.custom_metadata = json!({ "call": created_ms }).as_object().cloned();
        ids.push(job.id);
        f.store.create_job(job).await.expect("created");
    }
    execute(&f, "UPDATE jobs SET spec = json_set(spec, '$.model', 7) WHERE created_ms = 1").await;
    execute(&f, "UPDATE jobs SET client_metadata = '[]' WHERE created_ms = 2").await;
    execute(&f, "UPDATE jobs SET spec = json_set(spec, '$.callback', 7) WHERE created_ms = 3").await;
    execute(&f, "UPDATE jobs SET spec = 'no JSON' WHERE created_ms = 4").await;
    assert!(matches!(f.store.claim("a", 10, LEASE_MS, &no_limit()).await, Ok(None)));
    for (number, id) in ids.into_iter().enumerate() {
        let told = f.store.deliveries_of(id).await.expect("reads");
        let told: Vec<_> = told.iter().map(|d| (d.target, d.url.as_str(), d.method, d.event)).collect();
        let callback =
            (Target::Callback, "http://example.com/hook", CallbackMethod::Put, Event::TranscriptionError);
        assert_eq!(told, if number < 2 { vec![callback] } else { Vec::new() }, "job {number}");
        let metadata = get(&f.store, id).await.spec.custom_metadata;
        let expected = json!({ "call": number + 1 }).as_object().cloned();
        assert_eq!(metadata, expected.filter(|_| number < 3), "job {number}");
    }
}

#[tokio::test]
async fn a_checkpoint_that_cannot_be_read_is_none() {
    let f = fixture().await;
    add_job(&f.store, 0).await;
    let lease = claim_job(&f.store, "a", 0).await.lease;
    for step in ["decode", "segment"] {
        let blob_key = BlobKey::new(BlobArea::Checkpoint);
        let checkpoint = Checkpoint { step: step.to_owned(), digest: "d".to_owned(), blob_key };
        assert!(f.store.save_checkpoint(&lease, checkpoint).await.expect("saves"));
    }
    execute(&f, "UPDATE checkpoints SET blob_key = 'elsewhere' WHERE step = 'decode'").await;
    assert!(f.store.release(&lease, 0, false).await.expect("releases"));
    let steps: Vec<_> = claim_job(&f.store, "a", 0).await.checkpoints.into_iter().map(|c| c.step).collect();
    assert_eq!(steps, ["segment"]);
}

#[tokio::test]
async fn a_job_is_promised_its_addons_until_it_ends() {
    let f = fixture().await;
    let mut job = new_job(1_000);
    job.spec.addons = vec![PlannedAddon {
        name: "x".to_owned(),
        digest: "promised".to_owned(),
        config: "{}".to_owned(),
        redacts: false,
    }];
    f.store.create_job(job).await.expect("created");
    let promised = HashSet::from(["promised".to_owned()]);
    assert_eq!(f.store.promised_addons().await.expect("reads"), promised);
    let claimed = claim_job(&f.store, "a", 5_000).await;
    assert_eq!(f.store.promised_addons().await.expect("reads"), promised);
    assert!(f.store.finish(&claimed.lease, done(&BlobKey::new(BlobArea::Result))).await.expect("ends"));
    assert_eq!(f.store.promised_addons().await.expect("reads"), HashSet::new());
}

#[tokio::test]
async fn two_stores_on_one_file_share_one_queue() {
    let f = fixture().await;
    let other = Arc::new(Store::open(&f.path).await.expect("opens"));
    let store = Arc::new(f.store);
    let mut expected = HashSet::new();
    for created_ms in 0..60 {
        expected.insert(add_job(&store, created_ms).await);
    }
    let mut workers = Vec::new();
    for number in 0..6 {
        let store = if number % 2 == 0 { store.clone() } else { other.clone() };
        workers.push(tokio::spawn(async move {
            let mut mine = Vec::new();
            while let Some(claimed) =
                store.claim(&format!("worker-{number}"), 1_000, LEASE_MS, &no_limit()).await.expect("claims")
            {
                assert_eq!(claimed.lease.attempt, 1);
                mine.push(claimed.job.id);
            }
            mine
        }));
    }
    let mut claimed = Vec::new();
    for worker in workers {
        claimed.extend(worker.await.expect("ends"));
    }
    assert_eq!(claimed.len(), 60, "no job twice");
    assert_eq!(claimed.into_iter().collect::<HashSet<_>>(), expected);
}

#[tokio::test]
async fn a_lost_lease_changes_nothing_any_more() {
    let f = fixture().await;
    let id = add_job(&f.store, 0).await;
    let old = claim_job(&f.store, "a", 0).await;
    assert!(f.store.heartbeat(&old.lease, LEASE_MS + 10, Map::new()).await.expect("beats"));
    let early = f.store.claim("b", LEASE_MS + 9, LEASE_MS, &no_limit()).await.expect("claims");
    assert!(early.is_none(), "the heartbeat prolonged the lease");
    let new = claim_job(&f.store, "a", LEASE_MS + 10).await;
    assert_eq!((new.lease.attempt, new.crashes), (2, 0), "nobody knows that the process has ended");

    let key = BlobKey::new(BlobArea::Result);
    let checkpoint = Checkpoint { step: "decode".to_owned(), digest: "d".to_owned(), blob_key: key.clone() };
    let facts = FileFacts { filename: Some("late".to_owned()), ..FileFacts::default() };
    assert!(!f.store.enter_slot(&old.lease).await.expect("enters"));
    assert!(!f.store.heartbeat(&old.lease, 99_999, Map::new()).await.expect("beats"));
    assert!(!f.store.save_checkpoint(&old.lease, checkpoint).await.expect("saves"));
    assert!(!f.store.save_file_facts(&old.lease, facts).await.expect("saves"));
    assert!(!f.store.release(&old.lease, 0, true).await.expect("releases"));
    assert!(!f.store.finish(&old.lease, done(&key)).await.expect("finishes"));
    let job = get(&f.store, id).await;
    assert_eq!((job.status, job.result_key), (Status::Processing, None));
    assert_eq!(job.file.expect("file").facts.filename, None);
    assert!(f.store.finish(&new.lease, done(&key)).await.expect("finishes"));
    assert!(!f.store.finish(&new.lease, done(&key)).await.expect("finishes"), "final is final");
    assert!(matches!(f.store.claim("b", i64::MAX / 2, LEASE_MS, &no_limit()).await, Ok(None)));
}

#[tokio::test]
async fn a_process_that_ended_is_blamed_on_the_jobs_it_computed_with() {
    let f = fixture().await;
    for at in 0..3 {
        add_job(&f.store, at).await;
    }
    // Who has a slot when the process ends, and how often each was a possible cause by then.
    for (computes, crashes) in [([false, true, false], [0, 1, 0]), ([false; 3], [0, 1, 0])] {
        for computes in computes {
            let lease = claim_job(&f.store, "dead", 10).await.lease;
            assert!(!computes || f.store.enter_slot(&lease).await.expect("enters"));
        }
        assert_eq!(f.store.end_leases("dead", 10).await.expect("ends"), 3);
        let mut next = Vec::new();
        for _ in 0..3 {
            next.push(claim_job(&f.store, "next", 10).await);
        }
        assert_eq!(next.iter().map(|one| one.crashes).collect::<Vec<_>>(), crashes);
        for one in next {
            assert!(f.store.release(&one.lease, 10, false).await.expect("releases"));
        }
    }
}

#[tokio::test]
async fn crashes_are_forgotten_when_a_job_gets_further() {
    let f = fixture().await;
    add_job(&f.store, 0).await;
    // What each claim saves before its process ends, and the crashes that the next one sees.
    let now_ms = 0;
    for (steps, crashes) in
        [(vec!["decode"], 0), (vec!["decode"], 1), (vec![], 2), (vec!["decode", "segment"], 3), (vec![], 1)]
    {
        let claimed = claim_job(&f.store, "a", now_ms).await;
        assert_eq!(claimed.crashes, crashes, "attempt {}", claimed.lease.attempt);
        for step in steps {
            let blob_key = BlobKey::new(BlobArea::Checkpoint);
            let checkpoint = Checkpoint { step: step.to_owned(), digest: "d".to_owned(), blob_key };
            assert!(f.store.save_checkpoint(&claimed.lease, checkpoint).await.expect("saves"));
        }
        assert!(f.store.enter_slot(&claimed.lease).await.expect("enters"));
        f.store.end_leases("a", now_ms).await.expect("ends");
    }
}

#[tokio::test]
async fn a_released_job_waits_and_keeps_checkpoints_and_faults() {
    let f = fixture().await;
    let id = add_job(&f.store, 0).await;
    let claimed = claim_job(&f.store, "a", 0).await;
    let mut saved = Vec::new();
    for (step, digest) in [("decode", "1"), ("segment", "2"), ("decode", "3")] {
        let checkpoint = Checkpoint {
            step: step.to_owned(),
            digest: digest.to_owned(),
            blob_key: BlobKey::new(BlobArea::Checkpoint),
        };
        assert!(f.store.save_checkpoint(&claimed.lease, checkpoint.clone()).await.expect("saves"));
        saved.push(checkpoint);
    }
    assert!(f.store.release(&claimed.lease, 500, true).await.expect("releases"));
    assert_eq!(get(&f.store, id).await.status, Status::Processing, "never back");
    assert!(matches!(f.store.claim("a", 499, LEASE_MS, &no_limit()).await, Ok(None)));
    let again = claim_job(&f.store, "a", 500).await;
    assert_eq!((again.crashes, again.faults, again.lease.attempt), (0, 1, 2));
    assert_eq!(again.checkpoints, vec![saved[2].clone(), saved[1].clone()], "the later one replaced");

    let result = BlobKey::new(BlobArea::Result);
    let unknown = BlobKey::new(BlobArea::Checkpoint);
    let keys = [saved[0].blob_key.clone(), saved[1].blob_key.clone(), unknown.clone(), result.clone()];
    let lost = f.store.unmentioned_blobs(&keys).await.expect("reads");
    assert_eq!(lost, vec![saved[0].blob_key.clone(), unknown.clone(), result.clone()]);
    assert!(f.store.finish(&again.lease, done(&result)).await.expect("finishes"));
    let lost = f.store.unmentioned_blobs(&keys).await.expect("reads");
    assert_eq!(lost, vec![saved[0].blob_key.clone(), saved[1].blob_key.clone(), unknown]);
}

#[tokio::test]
async fn the_final_change_writes_state_and_deliveries_together() {
    let f = fixture().await;
    let id = add_job(&f.store, 0).await;
    let claimed = claim_job(&f.store, "a", 0).await;
    let facts = FileFacts { audio_duration_s: Some(1.5), ..FileFacts::default() };
    assert!(f.store.save_file_facts(&claimed.lease, facts).await.expect("saves"));
    let facts = FileFacts { number_of_channels: Some(1), ..FileFacts::default() };
    assert!(f.store.save_file_facts(&claimed.lease, facts).await.expect("saves"));
    let metadata = json!({"error": {"message": "not audio"}}).as_object().cloned().expect("an object");
    let delivery = Delivery {
        id: Uuid::new_v4(),
        event: Event::TranscriptionError,
        target: Target::Callback,
        url: "http://example.com/hook".to_owned(),
        method: CallbackMethod::Put,
        webhook_id: None,
    };
    let ending = Ending {
        outcome: Outcome::Error { error_code: 422 },
        completed_ms: 77,
        post_session_metadata: metadata.clone(),
        deliveries: vec![delivery.clone()],
    };
    assert!(f.store.finish(&claimed.lease, ending).await.expect("finishes"));
    let job = get(&f.store, id).await;
    assert_eq!((job.status, job.completed_ms, job.error_code), (Status::Error, Some(77), Some(422)));
    assert_eq!((job.result_key, &job.post_session_metadata), (None, &metadata));
    let known = job.file.expect("file").facts;
    assert_eq!((known.audio_duration_s, known.number_of_channels), (Some(1.5), Some(1)));
    assert_eq!(f.store.queue_counts().await.expect("counts"), QueueCounts::default());
    let deliveries = f.store.deliveries_of(id).await.expect("reads");
    assert_eq!(deliveries, vec![delivery]);
}
