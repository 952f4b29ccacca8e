//! Many clients at once, in short: every request is answered and every job ends. The figures
//! are made by `make load`.

use std::time::Duration;

use serde_json::json;
use tympan_tests::load::{Manner, load};
use tympan_tests::server::{Options, Server};
use tympan_tests::silence;

#[tokio::test(flavor = "multi_thread")]
async fn every_request_of_64_clients_is_answered_and_every_job_ends() {
    let server = Server::start(Options::default());
    let client = server.client();
    let audio = client.upload("silence.wav", silence::wav(1)).await.body;
    let body = json!({ "audio_url": audio["audio_url"] }).to_string();
    let patient = Manner::Patient(Duration::from_millis(50));
    let figures = load(server.base(), 64, &[body], patient, Duration::from_secs(2)).await;
    assert!(figures.errors.is_empty(), "{:?}", figures.errors);
    assert!(figures.done >= 64, "{figures:?}");
    assert_eq!(figures.done, figures.posts.count());
    let open = client.get("/v2/pre-recorded?status=queued&status=processing").await.body;
    assert_eq!(open["items"], json!([]));
    let usage = client.get("/v2/usage").await.body;
    assert_eq!(usage["jobs"], figures.done);
}
