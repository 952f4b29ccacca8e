//! What tests put into the store directly, in the place of workers and sessions.

use serde_json::{Map, Value};

use super::{AUDIO, Harness};
use crate::model::date;
use crate::model::id::{AccountId, BlobArea, BlobKey, FileId};
use crate::model::job::{AudioSource, Kind};
use crate::store::{Claimed, Ending, FileFacts, FileRecord, NewJob, Outcome, no_limit};

pub(super) fn elsewhere() -> AudioSource {
    AudioSource::Url(AUDIO.into())
}

impl Harness {
    /// Creates a recorded job through the API and gives its id.
    pub async fn create(&self, mut body: Value) -> String {
        body.as_object_mut().unwrap().entry("audio_url").or_insert_with(|| AUDIO.into());
        let answer = self.post("/v2/pre-recorded", &body).await;
        assert_eq!(answer.status, 200, "{}", answer.json());
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// Writes a job as if it had been made at this moment.
    pub async fn add(&self, kind: Kind, audio: AudioSource, created_ms: i64) -> String {
        let account_id = AccountId("default".into());
        let job = NewJob { account_id, kind, ..NewJob::example(audio, created_ms) };
        let id = job.id;
        self.api.store.create_job(job).await.unwrap();
        id.to_string()
    }

    /// Claims the job that has waited longest, as a worker would.
    pub async fn claim(&self) -> Claimed {
        let claim = self.api.store.claim("worker", date::now_ms(), 60_000, &no_limit()).await.unwrap();
        let Some(claimed) = claim else { panic!("no job but {claim:?}") };
        claimed
    }

    /// Takes the job that has waited longest to its end, as a worker would.
    pub async fn finish(&self, outcome: Outcome) {
        let store = &self.api.store;
        let claimed = self.claim().await;
        let facts =
            FileFacts { audio_duration_s: Some(1.5), number_of_channels: Some(2), ..FileFacts::default() };
        assert!(store.save_file_facts(&claimed.lease, facts).await.unwrap());
        let ending = Ending {
            outcome,
            completed_ms: date::now_ms(),
            post_session_metadata: Map::from_iter([("why".to_owned(), "test".into())]),
            deliveries: Vec::new(),
        };
        assert!(store.finish(&claimed.lease, ending).await.unwrap());
    }

    /// The same, with this result.
    pub async fn finish_with(&self, result: &str) -> BlobKey {
        let result_key = self.api.blobs.put(BlobArea::Result, result.into()).await.unwrap();
        self.finish(Outcome::Done { result_key: result_key.clone(), billed_s: 1.0 }).await;
        result_key
    }

    /// Stores bytes and a record of them.
    pub async fn store_file(&self, filename: &str, bytes: &[u8]) -> FileRecord {
        let stored = self.api.blobs.put_stream(BlobArea::Audio, bytes, u64::MAX).await.unwrap();
        let file = FileRecord {
            id: FileId::new(),
            account_id: AccountId("default".into()),
            source: None,
            created_ms: date::now_ms(),
            facts: FileFacts {
                filename: Some(filename.into()),
                sha256: Some(stored.sha256),
                blob_key: Some(stored.key),
                ..FileFacts::default()
            },
        };
        self.api.store.insert_file(file.clone()).await.unwrap();
        file
    }

    /// Changes rows directly: what a part of the service that does not run here would do.
    pub async fn execute(&self, sql: &'static str) {
        sqlx::query(sql).execute(&mut self.database().await).await.unwrap();
    }

    /// One number out of the database.
    pub async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&mut self.database().await).await.unwrap()
    }

    async fn database(&self) -> sqlx::SqliteConnection {
        let path = self.folder.path().join("tympan.db");
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
        sqlx::ConnectOptions::connect(&options).await.unwrap()
    }
}
