//! Retention over a real store and real blobs.

use std::sync::Arc;

use serde_json::Map;

use super::*;
use crate::blob::Blobs;
use crate::model::id::{AccountId, BlobArea, BlobKey, JobId, RequestId};
use crate::model::job::{AudioSource, JobSpec, Kind, LanguageConfig};
use crate::model::plan::Retention;
use crate::store::{Claim, ConcurrencyLimit, Ending, FileFacts, NewJob, Outcome, Store};

const DAY_MS: i64 = 24 * 3600 * 1000;

struct House {
    store: Arc<Store>,
    blobs: Blobs,
    account: AccountId,
    _folder: tempfile::TempDir,
}

async fn house() -> House {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::open(&folder.path().join("tympan.db")).await.unwrap());
    let blobs = Blobs::open(&folder.path().join("blobs")).unwrap();
    House { store, blobs, account: AccountId("one".into()), _folder: folder }
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
        let id = JobId::new();
        let spec = JobSpec {
            model: "stt-1".into(),
            audio: AudioSource::Url("http://example.com/a.wav".into()),
            language: LanguageConfig::default(),
            addons: Vec::new(),
            missing_addons: Vec::new(),
            accurate_word_times: false,
            callback: None,
            custom_metadata: None,
            request_params: Map::new(),
        };
        let job = NewJob {
            id,
            account_id: self.account.clone(),
            request_id: RequestId::new(),
            kind: Kind::PreRecorded,
            spec,
            created_ms: at_ms,
            zero_retention,
        };
        self.store.create_job(job).await.unwrap();
        let unlimited: ConcurrencyLimit = Arc::new(|_| None);
        let Claim::Job(claimed) = self.store.claim("w", true, at_ms, 1000, &unlimited).await.unwrap() else {
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
            deliveries: Vec::new(),
        };
        assert!(self.store.finish(&claimed.lease, ending).await.unwrap());
        (id, audio, result_key)
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
    assert_eq!(house.store.erasures_of(&house.account).await.unwrap(), ["audio", "transcript", "metadata"]);
    sweeper.sweep(9 * DAY_MS).await.unwrap();
    assert_eq!(house.store.erasures_of(&house.account).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn without_periods_everything_stays_and_with_none_at_all_everything_goes_at_once() {
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

#[tokio::test]
async fn audio_of_a_job_that_is_not_final_is_never_taken_away() {
    let house = house().await;
    let (_, audio, _) = house.ended_job(0, false).await;
    let file = house.store.accounts_with_data().await.unwrap();
    assert_eq!(file, std::slice::from_ref(&house.account));
    let zero = Retention { audio_days: Some(0), ..Retention::default() };
    house.sweeper(zero).sweep(0).await.unwrap();
    assert!(house.has(&audio).await, "not older than the period");
    house.sweeper(zero).sweep(1).await.unwrap();
    assert!(!house.has(&audio).await);
}
