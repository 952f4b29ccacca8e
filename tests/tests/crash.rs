//! Killed processes: nothing is lost, and a resumed job equals an uninterrupted one.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tympan_tests::fixtures;
use tympan_tests::recordings::Recordings;
use tympan_tests::server::{Options, Server};
use tympan_tests::timeless::timeless;

/// A call with a speaker per channel, of which the first [`LENGTH_S`] are transcribed: more
/// than one segment in each channel.
const CALL: &str = "stereo/call_8k_mulaw.wav";
const LENGTH_S: usize = 30;
/// Two channels of 8,000 bytes a second.
const BYTES_PER_S: usize = 16_000;

/// Short leases, so that a restart does not wait for the dead worker's.
const CONFIG: &str = "[worker]\nlease_s = 5\n";

/// A folder with the beginning of the call.
fn beginning() -> tempfile::TempDir {
    let mut file = fixtures::bytes(CALL);
    let data = file.windows(4).position(|name| name == b"data").expect("a chunk of samples") + 8;
    let size_bytes = LENGTH_S * BYTES_PER_S;
    file.truncate(data + size_bytes);
    file[data - 4..data].copy_from_slice(&(size_bytes as u32).to_le_bytes());
    let riff_bytes = (file.len() - 8) as u32;
    file[4..8].copy_from_slice(&riff_bytes.to_le_bytes());
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("call.wav"), file).expect("writes");
    folder
}

fn request(files: &Recordings) -> Value {
    json!({"audio_url": files.url("call.wav"), "sentences": true, "subtitles": true})
}

#[tokio::test]
async fn a_job_killed_at_any_moment_ends_with_the_same_bytes() {
    let folder = beginning();
    let files = Recordings::serve(folder.path().to_owned());
    let undisturbed = Server::start(Options::default().config(CONFIG));
    let client = undisturbed.client();
    let id = client.create(&request(&files)).await;
    let expected = client.wait(&id).await;
    assert_eq!(expected["status"], "done", "{expected}");
    drop(undisturbed);

    for moment_ms in [0, 150, 400, 800, 1_300, 2_000] {
        let mut server = Server::start(Options::default().config(CONFIG));
        let id = server.client().create(&request(&files)).await;
        tokio::time::sleep(Duration::from_millis(moment_ms)).await;
        server.kill();
        server.restart();
        let job = server.client().wait(&id).await;
        assert_eq!(timeless(&job), timeless(&expected), "killed after {moment_ms} ms: {job}");
    }
}

/// Waits until the server has logged something so often, over all its starts.
async fn until_logged(server: &Server, text: &str, times: usize) {
    let begun = Instant::now();
    while server.log().matches(text).count() < times {
        assert!(begun.elapsed() < Duration::from_secs(60), "{}", server.log());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_job_that_kills_its_worker_three_times_is_given_up() {
    let files = Recordings::serve(fixtures::folder());
    let mut server = Server::start(Options::default().config(CONFIG));
    let id = server.client().create(&json!({"audio_url": files.url("long/long_en_5readers.mp3")})).await;
    // All that remains is transcription, whose first segment takes longer than a kill.
    until_logged(&server, "step=\"segment\"", 1).await;
    for claims in 1..=3 {
        until_logged(&server, "slot taken", claims).await;
        server.kill();
        server.restart();
    }
    let job = server.client().wait(&id).await;
    assert_eq!((&job["status"], &job["error_code"]), (&json!("error"), &json!(500)), "{job}");
    assert!(job["post_session_metadata"].to_string().contains("processing stopped unexpectedly"), "{job}");
}

#[tokio::test]
async fn a_shutdown_is_graceful_and_work_goes_on_afterwards() {
    let files = Recordings::serve(fixtures::folder());
    let mut server = Server::start(Options::default().config("[worker]\nshutdown_grace_s = 1\n"));
    let id = server.client().create(&json!({"audio_url": files.url("stereo/call_16k.flac")})).await;
    while server.client().job(&id).await["status"] != "processing" {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let (took, ended_well) = server.terminate();
    assert!(ended_well, "{}", server.log());
    assert!(took < Duration::from_secs(10), "the shutdown took {took:?}");
    server.restart();
    let job = server.client().wait(&id).await;
    assert_eq!(job["status"], "done", "{job}");
    assert_ne!(job["post_session_metadata"]["attempts"], 1, "it had ended before the shutdown: {job}");
}
