//! The limit of open files: raised at the start, and survived when it is reached.
#![allow(clippy::unwrap_used)]
#![cfg(target_os = "linux")]

use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};
use serde_json::json;
use tympan_tests::fixtures;
use tympan_tests::recordings::Recordings;
use tympan_tests::server::{Options, Server};

const FILES: Resource = Resource::Nofile;

/// Below this number every file is open already, so that no other can be opened.
const NO_MORE: u64 = 3;

/// Sets the limit of the server and returns the one it had.
fn limit(server: &Server, current: Option<u64>) -> Rlimit {
    let id = Pid::from_raw(i32::try_from(server.id()).unwrap());
    prlimit(id, FILES, Rlimit { current, maximum: getrlimit(FILES).maximum }).unwrap()
}

async fn until(server: &Server, holds: impl AsyncFn() -> bool) {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < Duration::from_secs(60), "{}", server.log());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn without_files_requests_get_503_and_jobs_wait() {
    let Rlimit { maximum, .. } = getrlimit(FILES);
    setrlimit(FILES, Rlimit { current: Some(512), maximum }).unwrap();
    let server = Server::start(Options::default());
    let files = Recordings::serve(fixtures::folder());
    // The one connection of this client is open before.
    let client = server.client();
    assert_eq!(client.get("/readyz").await.status, 200);

    assert_eq!(limit(&server, Some(NO_MORE)).current, maximum, "the soft limit was raised");
    let job = client.create(&json!({"audio_url": files.url("en/jfk.wav")})).await;
    until(&server, async || server.log().contains("overloaded")).await;
    until(&server, async || client.get("/readyz").await.status == 503).await;
    let upload = client.upload("jfk.wav", fixtures::bytes("en/jfk.wav")).await;
    assert_eq!(
        (upload.status, &upload.body["message"]),
        (503, &json!("The service is busy, try again later"))
    );

    limit(&server, maximum);
    assert_eq!(client.wait(&job).await["status"], "done");
    until(&server, async || client.get("/readyz").await.status == 200).await;
}
