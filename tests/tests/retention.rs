//! An account that keeps no data: results come by callback, and nothing stays.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use tympan_tests::disk::{files_left_with, files_with, holds};
use tympan_tests::fixtures;
use tympan_tests::receiver::{Manner, Receiver};
use tympan_tests::recordings::Recordings;
use tympan_tests::server::{Options, Server};

const RECORDING: &str = "en/jfk.wav";
/// A word of the recording, and one that only the request holds.
const SPOKEN: &str = "americans";
const ATTACHED: &str = "xylophone";

const CONFIG: &str = "
[accounts.default]
plan = \"enterprise\"
zero_retention = true
[deliveries]
timeout_s = 2
retry_s = [0]
";

fn request(files: &Recordings, receiver: &Receiver) -> Value {
    json!({
        "audio_url": files.url(RECORDING),
        "callback_url": receiver.url("/hook"),
        "custom_metadata": { "note": ATTACHED },
    })
}

async fn assert_nothing_is_left(server: &Server) {
    for text in [SPOKEN, ATTACHED] {
        assert_eq!(files_left_with(&server.data_dir(), text).await, [""; 0], "{text}");
        assert!(!holds(server.log().as_bytes(), text), "{}", server.log());
    }
}

#[tokio::test]
async fn a_result_is_delivered_and_then_nowhere_any_more() {
    let server = Server::start(Options::default().config(CONFIG));
    let (files, receiver) = (Recordings::serve(fixtures::folder()), Receiver::polite());
    let client = server.client();
    let id = client.create(&request(&files, &receiver)).await;
    assert!(!files_with(&server.data_dir(), ATTACHED).is_empty(), "the search can find something");
    let message = receiver.wait_for(1).remove(0).json();
    assert_eq!((&message["id"], &message["event"]), (&json!(id), &json!("transcription.success")));
    assert!(holds(message["payload"].to_string().as_bytes(), SPOKEN), "{message}");
    assert_eq!(message["custom_metadata"]["note"], ATTACHED);
    assert_nothing_is_left(&server).await;
}

#[tokio::test]
async fn a_result_that_cannot_be_delivered_is_erased_as_well() {
    let server = Server::start(Options::default().config(CONFIG));
    let files = Recordings::serve(fixtures::folder());
    let receiver = Receiver::start(&[Manner::Status(500), Manner::Status(500)]);
    server.client().create(&request(&files, &receiver)).await;
    let messages = receiver.wait_for(2);
    assert!(holds(&messages[1].body, SPOKEN), "there was something to lose");
    assert_nothing_is_left(&server).await;
}

/// A webhook hears of the job and nothing of what was said, so nothing waits for it.
#[tokio::test]
async fn a_webhook_that_is_down_keeps_nothing() {
    let webhook = Receiver::start(&[Manner::Status(500)]);
    let slow = CONFIG.replace("retry_s = [0]", "retry_s = [3600]");
    let config = format!("{slow}[[webhooks]]\nurl = {:?}\n", webhook.url("/all"));
    let server = Server::start(Options::default().config(&config));
    let (files, receiver) = (Recordings::serve(fixtures::folder()), Receiver::polite());
    let client = server.client();
    let id = client.create(&request(&files, &receiver)).await;
    assert!(holds(&receiver.wait_for(1)[0].body, SPOKEN));
    assert_nothing_is_left(&server).await;
    let owed = client.get("/v2/admin/deliveries?status=pending").await.body;
    let owed: Vec<_> =
        owed["items"].as_array().unwrap().iter().map(|one| (&one["job"], &one["target"])).collect();
    assert_eq!(owed, [(&json!(id), &json!("webhook")); 2]);
}

#[tokio::test]
async fn a_deleted_job_is_in_no_file_any_more() {
    let server = Server::start(Options::default());
    let (files, receiver) = (Recordings::serve(fixtures::folder()), Receiver::polite());
    let client = server.client();
    let id = client.create(&request(&files, &receiver)).await;
    client.wait(&id).await;
    receiver.wait_for(1);
    assert!(!files_with(&server.data_dir(), SPOKEN).is_empty(), "the search can find something");
    assert_eq!(client.delete(&format!("/v2/pre-recorded/{id}")).await.status, 202);
    assert_nothing_is_left(&server).await;
}

#[tokio::test]
async fn nothing_can_be_stored_or_polled() {
    let server = Server::start(Options::default().config(CONFIG));
    let (files, receiver) = (Recordings::serve(fixtures::folder()), Receiver::polite());
    let client = server.client();
    let uploaded = client.upload("a.wav", fixtures::bytes(RECORDING)).await;
    assert_eq!(uploaded.status, 403, "{}", uploaded.body);
    let without_callback = json!({ "audio_url": files.url(RECORDING) });
    let mut stored = request(&files, &receiver);
    stored["audio_url"] = json!(format!("{}/file/00000000-0000-4000-8000-000000000000", server.base()));
    for (body, field) in [(without_callback, "callback must "), (stored, "audio_url must ")] {
        let answer = client.post("/v2/pre-recorded", &body).await;
        assert_eq!(answer.status, 422, "{}", answer.body);
        assert!(answer.body["validation_errors"].to_string().contains(field), "{}", answer.body);
    }
    let id = client.create(&request(&files, &receiver)).await;
    for path in
        [format!("/v2/pre-recorded/{id}"), format!("/v2/transcription/{id}"), "/v2/pre-recorded".into()]
    {
        assert_eq!(client.get(&path).await.status, 403, "{path}");
    }
    receiver.wait_for(1);
}
