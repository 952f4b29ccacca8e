//! Files through the router: uploaded, named in a job, downloaded.

use axum::body::Body;
use axum::http::Request;
use futures_util::stream::{self, StreamExt};
use serde_json::json;
use tower::ServiceExt;

use super::{Answer, Harness, KEY};
use crate::config::{Auth, Secret};
use crate::model::id::AccountId;

const BOUNDARY: &str = "----boundary";

/// A quarter of a second of silence.
fn wav() -> Vec<u8> {
    wav_of(4000)
}

/// Silence of so many samples, 16 kHz, one channel, 16 bits.
fn wav_of(samples: usize) -> Vec<u8> {
    let samples = vec![0; 2 * samples];
    let mut file = Vec::new();
    file.extend_from_slice(b"RIFF");
    file.extend_from_slice(&(36 + samples.len() as u32).to_le_bytes());
    file.extend_from_slice(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    file.extend_from_slice(&16_000_u32.to_le_bytes());
    file.extend_from_slice(&32_000_u32.to_le_bytes());
    file.extend_from_slice(b"\x02\0\x10\0data");
    file.extend_from_slice(&(samples.len() as u32).to_le_bytes());
    file.extend_from_slice(&samples);
    file
}

fn part(name: &str, filename: &str, bytes: &[u8]) -> Vec<u8> {
    let head = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{filename}\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    );
    [head.as_bytes(), bytes, b"\r\n"].concat()
}

fn form(parts: &[Vec<u8>]) -> Vec<u8> {
    [parts.concat(), format!("--{BOUNDARY}--\r\n").into_bytes()].concat()
}

fn multipart(path: &str, body: impl Into<Body>) -> Request<Body> {
    Harness::request("POST", path)
        .header("content-type", format!("multipart/form-data; boundary={BOUNDARY}"))
        .body(body.into())
        .unwrap()
}

async fn upload(harness: &Harness, parts: &[Vec<u8>]) -> Answer {
    harness.send(multipart("/v2/upload/", form(parts))).await
}

/// How many there are, with a row or without.
async fn blobs(harness: &Harness) -> usize {
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    harness.api.blobs.remove_unfinished(later).await.unwrap();
    harness.api.blobs.all_older_than(later).await.unwrap().len()
}

async fn limited_to(upload_bytes: u64) -> Harness {
    let auth = Auth { bootstrap_key: Some(Secret::new(KEY)), ..Auth::default() };
    Harness::with(|settings| settings.limits.upload_bytes = upload_bytes, auth).await
}

#[tokio::test]
async fn an_upload_can_be_downloaded_and_transcribed() {
    let harness = Harness::new().await;
    let answer = upload(&harness, &[part("audio", "a call.WAV", &wav())]).await;
    assert_eq!(answer.status, 200, "{:?}", String::from_utf8_lossy(&answer.bytes));
    let body = answer.json();
    let metadata = &body["audio_metadata"];
    let id = metadata["id"].as_str().unwrap();
    assert_eq!(body["audio_url"], format!("http://speech.example/file/{id}"));
    assert_eq!(
        *metadata,
        json!({
            "id": id, "filename": "a call.WAV", "extension": "wav", "size": wav().len(),
            "audio_duration": 0.25, "number_of_channels": 1,
        })
    );

    let file = harness.get(&format!("/file/{id}")).await;
    assert_eq!(file.status, 200);
    assert_eq!(file.bytes, wav());
    assert_eq!(file.header("content-type"), "application/octet-stream");
    assert_eq!(file.header("content-length"), wav().len().to_string());

    let created = harness.post("/v2/pre-recorded", &json!({ "audio_url": body["audio_url"] })).await.json();
    let job = harness.get(&format!("/v2/pre-recorded/{}", created["id"].as_str().unwrap())).await.json();
    assert_eq!(job["file"]["id"], id);
    assert_eq!(job["file"]["filename"], "a call.WAV");

    // As well under a name of the proxy in front, or of the network behind it.
    for origin in ["http://speech.example", "https://public.example", "http://10.1.2.3:8080"] {
        let url = format!("{origin}/file/{id}");
        let again = harness.post("/v2/upload", &json!({ "audio_url": url })).await;
        assert_eq!(again.json()["audio_metadata"]["id"], id, "{origin}");
        let created = harness.post("/v2/pre-recorded", &json!({ "audio_url": url })).await.json();
        let job = harness.get(&format!("/v2/pre-recorded/{}", created["id"].as_str().unwrap())).await.json();
        assert_eq!(job["file"]["id"], id, "{origin}");
    }
}

#[tokio::test]
async fn whatever_is_too_large_the_limit_of_the_file_is_named() {
    let harness = limited_to(100_000).await;
    for size in [100_001, 160_000, 170_000, 400_000] {
        let refused = upload(&harness, &[part("audio", "a.wav", &vec![0; size])]).await.envelope(413);
        let message = refused["message"].as_str().unwrap();
        assert!(message.starts_with("The file must not be larger than 100000 bytes"), "{size}: {message}");
    }
}

#[tokio::test]
async fn other_parts_are_passed_over() {
    let harness = Harness::new().await;
    let parts = [part("note", "x", b"1"), part("audio", "a.wav", &wav()), part("audio", "b.wav", b"2")];
    assert_eq!(upload(&harness, &parts).await.json()["audio_metadata"]["filename"], "a.wav");
    let none = upload(&harness, &[part("file", "a.wav", &wav())]).await.envelope(400);
    assert!(none["validation_errors"][0].as_str().unwrap().starts_with("audio is required"));
}

#[tokio::test]
async fn a_part_is_understood_however_its_header_is_written() {
    let harness = Harness::new().await;
    for (disposition, filename) in [
        ("Form-Data; Name=\"audio\"; FileName=\"Call.wav\"", "Call.wav"),
        ("form-data;filename=call.wav;name=audio", "call.wav"),
        ("form-data; name=\"audio\"; filename*=UTF-8''%C3%A9t%C3%A9%20%22a%22.wav", "été \"a\".wav"),
        ("form-data; NAME=audio; filename=plain.wav; FILENAME*=utf-8'en'better.wav", "better.wav"),
        ("form-data; name=audio; filename*=x-unknown''%E9.wav; filename=plain.wav", "plain.wav"),
        ("form-data; name=\"audio\"; filename=\"a;b \\\"c\\\".wav\"", "a;b \"c\".wav"),
        ("form-data; name=\"audio\"; filename=\"été.wav\"", "été.wav"),
        ("form-data; name=\"audio\"", "audio.wav"),
    ] {
        let head = format!("--{BOUNDARY}\r\nCONTENT-DISPOSITION: {disposition}\r\n\r\n");
        let answer = upload(&harness, &[[head.as_bytes(), &wav(), b"\r\n"].concat()]).await;
        assert_eq!(answer.status, 200, "{disposition}");
        assert_eq!(answer.json()["audio_metadata"]["filename"], filename, "{disposition}");
    }
}

#[tokio::test]
async fn what_is_not_audio_leaves_nothing_behind() {
    let harness = Harness::new().await;
    for bytes in [&b""[..], b"text", &wav()[..10]] {
        upload(&harness, &[part("audio", "a.mp3", bytes)]).await.envelope(400);
    }
    assert_eq!(blobs(&harness).await, 0);
}

#[tokio::test]
async fn a_body_that_breaks_off_after_the_file_leaves_nothing_behind() {
    let harness = Harness::new().await;
    let whole = form(&[part("audio", "a.wav", &wav()), part("note", "x", &[b'x'; 1000])]);
    harness.send(multipart("/v2/upload", whole[..whole.len() - 500].to_vec())).await.envelope(400);
    assert_eq!(blobs(&harness).await, 0);
}

#[tokio::test]
async fn a_file_that_has_arrived_is_kept_when_its_client_goes_away() {
    let harness = Harness::new().await;
    // Nobody may look at audio meanwhile, so that the request is in the middle of it.
    let looking = harness.api.probes.acquire_many(4).await.unwrap();
    let request = multipart("/v2/upload", form(&[part("audio", "a.wav", &wav())]));
    let mut uploading = Box::pin(harness.router.clone().oneshot(request));
    let shelves = harness.folder.path().join("blobs/audio");
    while std::fs::read_dir(&shelves).unwrap().count() == 0 {
        assert!(futures_util::poll!(&mut uploading).is_pending());
        tokio::task::yield_now().await;
    }
    drop(uploading);
    drop(looking);
    harness.api.tasks.close();
    tokio::time::timeout(std::time::Duration::from_secs(5), harness.api.tasks.wait()).await.unwrap();
    assert_eq!(harness.count("SELECT COUNT(*) FROM files WHERE blob_key IS NOT NULL").await, 1);
}

#[tokio::test]
async fn a_body_that_breaks_off_or_is_no_multipart_is_400() {
    let harness = Harness::new().await;
    let whole = form(&[part("audio", "a.wav", &wav())]);
    for length in [0, 10, 200, whole.len() - 20] {
        harness.send(multipart("/v2/upload", whole[..length].to_vec())).await.envelope(400);
    }
    let no_boundary = Harness::request("POST", "/v2/upload").header("content-type", "multipart/form-data");
    harness.send(no_boundary.body(Body::from(whole)).unwrap()).await.envelope(400);
}

#[tokio::test]
async fn files_over_the_limit_are_413() {
    let harness = limited_to(wav().len() as u64).await;
    assert_eq!(upload(&harness, &[part("audio", "a.wav", &wav())]).await.status, 200);
    let mut longer = wav();
    longer.push(0);
    upload(&harness, &[part("audio", "a.wav", &longer)]).await.envelope(413);
    let head = stream::iter([bytes::Bytes::from(part("audio", "a.wav", &wav()))]);
    let endless = head.chain(stream::repeat(bytes::Bytes::from(vec![0; 8192])));
    let body = Body::from_stream(endless.map(Ok::<_, std::io::Error>));
    harness.send(multipart("/v2/upload", body)).await.envelope(413);
}

#[tokio::test]
async fn recordings_over_the_limit_of_time_are_413() {
    let auth = Auth { bootstrap_key: Some(Secret::new(KEY)), ..Auth::default() };
    let harness = Harness::with(|settings| settings.limits.audio_duration_s = Some(1), auth).await;
    for (samples, status) in [(15_999, 200), (16_000, 200), (16_001, 413)] {
        let answer = upload(&harness, &[part("audio", "a.wav", &wav_of(samples))]).await;
        assert_eq!(answer.status, status, "{samples}");
    }
}

#[tokio::test]
async fn bodies_that_are_packed_are_415() {
    let harness = Harness::new().await;
    let form = form(&[part("audio", "a.wav", &wav())]);
    for (encoding, status) in [("gzip", 415), ("Identity", 200)] {
        let mut request = multipart("/v2/upload", form.clone());
        request.headers_mut().insert("content-encoding", encoding.parse().unwrap());
        assert_eq!(harness.send(request).await.status, status, "{encoding}");
    }
}

#[tokio::test]
async fn urls_that_may_not_be_fetched_are_refused() {
    let harness = Harness::new().await;
    for url in ["http://127.0.0.1:1/a.wav", "http://169.254.169.254/", "ftp://a.example", "x"] {
        harness.post("/v2/upload", &json!({ "audio_url": url })).await.envelope(400);
    }
    harness.post("/v2/upload", &json!({})).await.envelope(400);
    let gone = "http://speech.example/file/6c09f2ab-9a4e-4c8c-8a34-3d6f0a1b2c3d";
    harness.post("/v2/upload", &json!({ "audio_url": gone })).await.envelope(404);
}

#[tokio::test]
async fn downloads_that_a_client_waits_for_are_limited_and_end_with_the_service() {
    let auth = Auth { bootstrap_key: Some(Secret::new(KEY)), ..Auth::default() };
    let harness = Harness::with(|settings| settings.fetch.allow_private = true, auth).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/a.wav", listener.local_addr().unwrap());
    let body = json!({ "audio_url": url });
    let waiting = async {
        // It is connected to and never answers.
        let _connection = listener.accept().await.unwrap();
        let account = AccountId("default".to_owned());
        let running: Vec<_> = std::iter::from_fn(|| harness.api.downloads.begin(&account)).collect();
        assert_eq!(running.len(), 15, "the sixteenth is on its way");
        let refused = harness.post("/v2/upload", &body).await;
        assert_eq!(refused.header("retry-after"), "5");
        refused.envelope(429);
        harness.api.draining.cancel();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        answer = harness.post("/v2/upload", &body) => { answer.envelope(503); }
        () = waiting => {}
    }
}
