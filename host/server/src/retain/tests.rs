//! Retention over a real store and real blobs.

use std::sync::Arc;

use serde_json::Map;
use uuid::Uuid;

use super::*;
use crate::blob::Blobs;
use crate::model::event::{Event, Target};
use crate::model::id::{AccountId, BlobArea, BlobKey, FileId, JobId};
use crate::model::job::{AudioSource, CallbackMethod};
use crate::model::plan::Retention;
use crate::store::{
    Delivery, DeliveryFilter, Ending, FileFacts, FileRecord, NewJob, Outcome, Store, no_limit,
};

const DAY_MS: i64 = 24 * 3600 * 1000;

struct House {
    store: Arc<Store>,
    blobs: Blobs,
    account: AccountId,
    folder: tempfile::TempDir,
}

async fn house() -> House {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::open(&folder.path().join("tympan.db")).await.unwrap());
    let blobs = Blobs::open(&folder.path().join("blobs")).unwrap();
    House { store, blobs, account: AccountId("one".into()), folder }
}

impl House {
    fn sweeper(&self, retention: Retention) -> Sweeper {
        Sweeper {
            store: self.store.clone(),
            blobs: self.blobs.clone(),
            periods: Arc::new(move |_| retention),
        }
    }

    /// A job with audio and result that was made and ended at `at_ms`.
    async fn ended_job(&self, at_ms: i64, zero_retention: bool) -> (JobId, BlobKey, BlobKey) {
        self.ended_job_owing(at_ms, zero_retention, Vec::new()).await
    }

    /// The same with messages that have not been sent.
    async fn ended_job_owing(
        &self,
        at_ms: i64,
        zero_retention: bool,
        deliveries: Vec<Delivery>,
    ) -> (JobId, BlobKey, BlobKey) {
        let audio = AudioSource::Url("http://example.com/a.wav".into());
        let job = NewJob { zero_retention, ..NewJob::example(audio, at_ms) };
        let id = job.id;
        self.store.create_job(job).await.unwrap();
        let Some(claimed) = self.store.claim("w", at_ms, 1000, &no_limit()).await.unwrap() else {
            panic!("a job waits")
        };
        let audio = self.blobs.put(BlobArea::Audio, b"sound".to_vec()).await.unwrap();
        let result_key = self.blobs.put(BlobArea::Result, b"{}".to_vec()).await.unwrap();
        let facts = FileFacts { blob_key: Some(audio.clone()), ..FileFacts::default() };
        assert!(self.store.save_file_facts(&claimed.lease, facts).await.unwrap());
        let ending = Ending {
            outcome: Outcome::Done { result_key: result_key.clone(), billed_s: 1.0 },
            completed_ms: at_ms,
            post_session_metadata: Map::new(),
            deliveries,
        };
        assert!(self.store.finish(&claimed.lease, ending).await.unwrap());
        (id, audio, result_key)
    }

    /// An upload at `at_ms`.
    async fn upload(&self, at_ms: i64) -> (FileId, BlobKey) {
        let key = self.blobs.put(BlobArea::Audio, b"sound".to_vec()).await.unwrap();
        let file = FileRecord {
            id: FileId::new(),
            account_id: self.account.clone(),
            source: None,
            created_ms: at_ms,
            facts: FileFacts { blob_key: Some(key.clone()), ..FileFacts::default() },
        };
        self.store.insert_file(file.clone()).await.unwrap();
        (file.id, key)
    }

    /// Classes of what was erased, the newest first.
    async fn erased(&self) -> Vec<String> {
        let records = self.store.list_erasures(Some(&self.account), 0, 9).await.unwrap();
        records.into_iter().map(|record| record.class).collect()
    }

    async fn has(&self, key: &BlobKey) -> bool {
        self.blobs.exists(key).await.unwrap()
    }
}

#[tokio::test]
async fn each_class_of_data_goes_at_the_end_of_its_own_period() {
    let house = house().await;
    let (id, audio, result) = house.ended_job(0, false).await;
    let periods = Retention {
        audio_days: Some(1),
        transcript_days: Some(2),
        metadata_days: Some(3),
        logs_days: Some(4),
    };
    let sweeper = house.sweeper(periods);
    let mut seen = Vec::new();
    for now_ms in [DAY_MS, DAY_MS + 1, 2 * DAY_MS + 1, 3 * DAY_MS + 1] {
        sweeper.sweep(now_ms).await.unwrap();
        let job = house.store.get_job(&house.account, id).await.unwrap();
        seen.push((house.has(&audio).await, house.has(&result).await, job.is_some()));
    }
    assert_eq!(seen, [(true, true, true), (false, true, true), (false, false, true), (false, false, false)]);
    assert_eq!(house.erased().await, ["metadata", "transcript", "audio"]);
    sweeper.sweep(9 * DAY_MS).await.unwrap();
    assert_eq!(house.erased().await, Vec::<String>::new());
}

fn owed_to(target: Target) -> Vec<Delivery> {
    vec![Delivery {
        id: Uuid::new_v4(),
        event: Event::TranscriptionSuccess,
        target,
        url: "https://hooks.example/".to_owned(),
        method: CallbackMethod::Post,
        webhook_id: None,
    }]
}

/// A webhook hears of an id and a callback of the result.
#[tokio::test]
async fn a_result_is_kept_for_a_callback_and_not_for_a_webhook() {
    let house = house().await;
    let sweeper = house.sweeper(Retention { transcript_days: Some(1), ..Retention::default() });
    for zero_retention in [false, true] {
        for (target, is_kept) in [(Target::Callback, true), (Target::Webhook, false)] {
            let (id, _, result) = house.ended_job_owing(0, zero_retention, owed_to(target)).await;
            sweeper.forget(2 * DAY_MS).await.unwrap();
            sweeper.sweep(2 * DAY_MS).await.unwrap();
            assert_eq!(house.has(&result).await, is_kept, "{target:?}, {zero_retention}");
            let owed = DeliveryFilter { job_id: Some(id), limit: 9, ..DeliveryFilter::default() };
            assert_eq!(house.store.list_deliveries(&owed).await.unwrap().len(), 1);
        }
    }
}

#[tokio::test]
async fn without_periods_everything_stays_but_what_a_plan_does_not_keep() {
    let house = house().await;
    let (kept, audio, _) = house.ended_job(0, false).await;
    let (forgotten, secret, result) = house.ended_job(1, true).await;
    let sweeper = house.sweeper(Retention::default());
    sweeper.sweep(1000 * DAY_MS).await.unwrap();
    sweeper.forget(2).await.unwrap();
    assert!(house.store.get_job(&house.account, kept).await.unwrap().is_some());
    assert!(house.has(&audio).await);
    assert!(house.store.get_job(&house.account, forgotten).await.unwrap().is_none());
    assert!(!house.has(&secret).await && !house.has(&result).await);
}

/// A folder in the place of a file cannot be removed as one.
fn make_unremovable(house: &House, key: &BlobKey) {
    let place = house.blobs.path(key);
    std::fs::remove_file(&place).unwrap();
    std::fs::create_dir(&place).unwrap();
}

#[tokio::test]
async fn what_cannot_be_erased_keeps_nothing_else() {
    let house = house().await;
    let mut results = Vec::new();
    for at_ms in 0..4 {
        results.push(house.ended_job(at_ms, false).await.2);
    }
    make_unremovable(&house, &results[0]);
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(house.folder.path().join("tympan.db"));
    let mut db = sqlx::ConnectOptions::connect(&options).await.unwrap();
    let unknown = "UPDATE jobs SET result_key = 'elsewhere' WHERE created_ms = 1";
    sqlx::query(unknown).execute(&mut db).await.unwrap();
    let sweeper = house.sweeper(Retention { transcript_days: Some(1), ..Retention::default() });
    sweeper.sweep(9 * DAY_MS).await.unwrap();
    assert!(!house.has(&results[2]).await && !house.has(&results[3]).await);
    assert_eq!(house.erased().await, ["transcript"; 2], "and nothing that is still there");
}

#[tokio::test]
async fn a_job_that_cannot_be_erased_keeps_no_other() {
    let house = house().await;
    let (stuck, ..) = house.ended_job(0, false).await;
    let (next, ..) = house.ended_job(1, false).await;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(house.folder.path().join("tympan.db"));
    let mut db = sqlx::ConnectOptions::connect(&options).await.unwrap();
    let refusing = "CREATE TRIGGER refuse BEFORE DELETE ON jobs WHEN OLD.created_ms = 0
                    BEGIN SELECT RAISE(ABORT, 'refused'); END";
    sqlx::query(refusing).execute(&mut db).await.unwrap();
    let sweeper = house.sweeper(Retention { metadata_days: Some(1), ..Retention::default() });
    sweeper.sweep(9 * DAY_MS).await.unwrap();
    for (id, is_kept) in [(stuck, true), (next, false)] {
        assert_eq!(house.store.get_job(&house.account, id).await.unwrap().is_some(), is_kept);
    }
}

#[tokio::test]
async fn a_forgotten_job_loses_all_its_blobs_but_those_that_cannot_go() {
    let house = house().await;
    let (_, audio, result) = house.ended_job_owing(0, true, owed_to(Target::Webhook)).await;
    make_unremovable(&house, &result);
    house.sweeper(Retention::default()).forget(1).await.unwrap();
    assert!(!house.has(&audio).await);
    assert_eq!(house.erased().await, Vec::<String>::new());
}

#[tokio::test]
async fn audio_that_a_job_needs_is_kept_and_then_goes() {
    let house = house().await;
    let (file, audio) = house.upload(0).await;
    house.store.create_job(NewJob::example(AudioSource::Stored(file), 1)).await.unwrap();
    let sweeper = house.sweeper(Retention { audio_days: Some(1), ..Retention::default() });
    sweeper.sweep(9 * DAY_MS).await.unwrap();
    assert!(house.has(&audio).await, "the job has not ended");
    let Some(claimed) = house.store.claim("w", 2, 1000, &no_limit()).await.unwrap() else {
        panic!("a job waits")
    };
    let ending = Ending {
        outcome: Outcome::Error { error_code: 500 },
        completed_ms: 3,
        post_session_metadata: Map::new(),
        deliveries: Vec::new(),
    };
    assert!(house.store.finish(&claimed.lease, ending).await.unwrap());
    sweeper.sweep(9 * DAY_MS).await.unwrap();
    assert!(!house.has(&audio).await);
}

#[tokio::test]
async fn no_days_leave_half_a_day_and_then_nothing_of_an_upload() {
    let house = house().await;
    let (file, audio) = house.upload(0).await;
    let none = Retention { audio_days: Some(0), metadata_days: Some(0), ..Retention::default() };
    let sweeper = house.sweeper(none);
    sweeper.sweep(DAY_MS / 2).await.unwrap();
    assert!(house.has(&audio).await, "there is time to use it");
    sweeper.sweep(DAY_MS / 2 + 1).await.unwrap();
    assert!(!house.has(&audio).await);
    assert_eq!(house.store.get_file(&house.account, file).await.unwrap(), None);
    assert_eq!(house.erased().await, ["audio"]);
}
