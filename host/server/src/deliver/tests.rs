//! A sender over a real store and a receiver on loopback.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Parts, Sender, Settings, for_ending};
use crate::blob::Blobs;
use crate::model::event::{DeliveryStatus, Event};
use crate::model::id::{BlobArea, JobId};
use crate::model::job::{AudioSource, Callback, CallbackMethod};
use crate::model::secret::Secret;
use crate::store::{DeliveryFilter, DeliveryRecord, Ending, NewJob, Outcome, Store, no_limit};

/// Longer than anything here takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(60);

struct House {
    store: std::sync::Arc<Store>,
    blobs: Blobs,
    folder: tempfile::TempDir,
    done: AtomicI64,
}

impl House {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(&folder.path().join("tympan.db")).await.expect("opens");
        let blobs = Blobs::open(&folder.path().join("blobs")).expect("opens");
        Self { store: store.into(), blobs, folder, done: AtomicI64::new(0) }
    }

    /// A job that is done with this result and names this callback.
    async fn done(&self, url: &str, result: Vec<u8>) -> JobId {
        let mut job = NewJob::example(AudioSource::Url("http://example.com/a.wav".to_owned()), 0);
        job.spec.callback = Some(Callback { url: url.to_owned(), method: CallbackMethod::Post });
        let spec = job.spec.clone();
        let id = job.id;
        self.store.create_job(job).await.expect("created");
        let claim = self.store.claim("w", 0, 1000, &no_limit()).await.expect("claims");
        let Some(claimed) = claim else { panic!("a job waits") };
        let result_key = self.blobs.put(BlobArea::Result, result).await.expect("stores");
        let ending = Ending {
            outcome: Outcome::Done { result_key, billed_s: 1.0 },
            // One after the other, so that it is known which message is the newest.
            completed_ms: 1 + self.done.fetch_add(1, Ordering::Relaxed),
            post_session_metadata: Map::new(),
            deliveries: for_ending(&spec, Event::TranscriptionSuccess),
        };
        assert!(self.store.finish(&claimed.lease, ending).await.expect("finishes"));
        id
    }

    /// Sends each message once, until the newest is not pending any more.
    async fn settle(&self, allow_private: bool) -> DeliveryRecord {
        self.settle_with(Settings { allow_private, ..Settings::default() }).await
    }

    async fn settle_with(&self, settings: Settings) -> DeliveryRecord {
        let (stop, running) = self.send(Settings { pauses: Vec::new(), ..settings });
        let filter = DeliveryFilter { limit: 1, ..DeliveryFilter::default() };
        let settling = async {
            loop {
                let record = self.store.list_deliveries(&filter).await.expect("lists").remove(0);
                if record.status() != DeliveryStatus::Pending {
                    break record;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let settled = tokio::time::timeout(PATIENCE, settling).await.expect("is settled in time");
        stop.cancel();
        running.await.expect("ends");
        settled
    }

    /// Starts a sender; what is on its way arrives although it is stopped.
    fn send(&self, settings: Settings) -> (CancellationToken, JoinHandle<()>) {
        let (store, blobs, owner) = (self.store.clone(), self.blobs.clone(), "p".to_owned());
        let sender = Sender::new(Parts { store, blobs, settings, owner }).expect("has a client");
        let stop = CancellationToken::new();
        (stop.clone(), tokio::spawn(sender.run(stop, CancellationToken::new())))
    }

    /// Changes the database behind the back of the store.
    async fn execute(&self, sql: &'static str) {
        let path = self.folder.path().join("tympan.db");
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
        let mut db = sqlx::ConnectOptions::connect(&options).await.expect("connects");
        sqlx::query(sql).execute(&mut db).await.expect("runs");
    }
}

/// Takes one request, answers 200 and gives head and body.
async fn take_one(listener: TcpListener) -> (String, Vec<u8>) {
    let (mut stream, _) = listener.accept().await.expect("somebody sends");
    let mut bytes = Vec::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        let count = stream.read(&mut piece).await.expect("reads");
        assert!(count > 0, "the head ends early");
        bytes.extend_from_slice(&piece[..count]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(bytes[..end].to_vec()).expect("is text");
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
        let length: usize = length.parse().expect("a number");
        while bytes.len() < end + 4 + length {
            let count = stream.read(&mut piece).await.expect("reads");
            assert!(count > 0, "the body ends early");
            bytes.extend_from_slice(&piece[..count]);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.expect("answers");
        return (head, bytes.split_off(end + 4));
    }
}

async fn receiver() -> (String, JoinHandle<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    (url, tokio::spawn(take_one(listener)))
}

#[tokio::test]
async fn a_long_result_arrives_whole_and_with_its_length() {
    let house = House::new().await;
    let (url, received) = receiver().await;
    let result = json!({ "text": "é\"".repeat(4_000_000) });
    let id = house.done(&url, result.to_string().into_bytes()).await;
    assert_eq!(house.settle(true).await.status(), DeliveryStatus::Delivered);
    let (head, body) = received.await.expect("receives");
    assert!(!head.contains("transfer-encoding"), "{head}");
    let body: Value = serde_json::from_slice(&body).expect("is JSON");
    assert_eq!((&body["id"], &body["custom_metadata"]), (&json!(id), &Value::Null));
    assert!(body["payload"] == result);
}

#[tokio::test]
async fn a_message_that_cannot_be_claimed_keeps_no_other_from_its_receiver() {
    let house = House::new().await;
    let (url, received) = receiver().await;
    house.done("http://127.0.0.1:9/", b"{}".to_vec()).await;
    let refusing = "CREATE TRIGGER refuse BEFORE UPDATE ON deliveries WHEN OLD.receiver = '127.0.0.1:9'
                    BEGIN SELECT RAISE(ABORT, 'refused'); END";
    house.execute(refusing).await;
    house.done(&url, b"{}".to_vec()).await;
    assert_eq!(house.settle(true).await.status(), DeliveryStatus::Delivered);
    received.await.expect("receives");
}

#[tokio::test]
async fn a_private_address_and_a_missing_result_are_given_up_at_once() {
    let house = House::new().await;
    let (url, _received) = receiver().await;
    let id = house.done(&url, b"{}".to_vec()).await;
    let refused = house.settle(false).await;
    assert_eq!((refused.status(), refused.attempts), (DeliveryStatus::GivenUp, 1));

    let job = house.store.find_job(id).await.expect("reads").expect("exists");
    house.blobs.delete(&job.result_key.expect("is done")).await.expect("deletes");
    house.store.replay_delivery(refused.delivery.id, 0).await.expect("runs");
    let erased = house.settle(true).await;
    assert_eq!(erased.status(), DeliveryStatus::GivenUp);
    assert_eq!(erased.last_error.as_deref(), Some("the result is not kept any more"));
}

#[tokio::test]
async fn a_result_that_breaks_off_is_no_fault_of_the_receiver() {
    for callback_secret in [None, Some(Secret::new("hush"))] {
        let house = House::new().await;
        let receiver = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/", receiver.local_addr().expect("an address"));
        let id = house.done(&url, b"{}".to_vec()).await;
        let job = house.store.find_job(id).await.expect("reads").expect("exists");
        // A folder can be opened like a file, and not read.
        let place = house.blobs.path(&job.result_key.expect("is done"));
        std::fs::remove_file(&place).expect("removes");
        std::fs::create_dir(&place).expect("creates");
        let settings = Settings { allow_private: true, callback_secret, ..Settings::default() };
        let failed = house.settle_with(settings).await;
        assert_eq!(failed.last_error.as_deref(), Some("the message could not be built; the log says why"));
    }
}

#[tokio::test]
async fn an_attempt_counts_for_the_owner_of_the_claim_only() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let _counting = ::metrics::set_default_local_recorder(&recorder);
    for is_lost in [true, false] {
        let house = House::new().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/", listener.local_addr().expect("an address"));
        house.done(&url, b"{}".to_vec()).await;
        let (stop, running) = house.send(Settings { allow_private: true, ..Settings::default() });
        let (mut stream, _) = listener.accept().await.expect("somebody sends");
        assert!(stream.read(&mut [0; 1024]).await.expect("reads") > 0);
        if is_lost {
            house.execute("UPDATE deliveries SET claim_owner = 'other'").await;
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.expect("answers");
        stop.cancel();
        running.await.expect("ends");
        let counted = recorder.handle().render();
        assert_eq!(counted.contains("outcome=\"delivered\"} 1"), !is_lost, "{counted}");
    }
}
