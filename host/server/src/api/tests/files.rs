//! Stored bytes: whole, in part, and as the audio of a job.

use axum::body::Body;

use super::rows::elsewhere;
use super::{Answer, Harness};
use crate::model::job::{AudioSource, Kind};

async fn ask(harness: &Harness, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let request = headers
        .iter()
        .fold(Harness::request(method, path), |request, (name, value)| request.header(*name, *value));
    harness.send(request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn ranges_are_honoured_under_both_addresses() {
    let harness = Harness::new().await;
    // More than is read from the disk at once.
    let bytes: Vec<u8> = (0..600_000_u32).map(|n| (n % 251) as u8).collect();
    let file = harness.store_file("a.wav", &bytes).await;
    let job = harness.add(Kind::PreRecorded, AudioSource::Stored(file.id), 1).await;
    for path in [format!("/file/{}", file.id), format!("/v2/pre-recorded/{job}/file")] {
        let whole = ask(&harness, "GET", &path, &[]).await;
        assert_eq!(whole.status, 200);
        assert!(whole.bytes == bytes);
        assert_eq!(whole.header("accept-ranges"), "bytes");
        let etag = format!("\"{}\"", file.facts.sha256.as_deref().unwrap());
        assert_eq!(whole.header("etag"), etag);
        for (range, expected, content_range) in [
            ("bytes=0-0", &bytes[..1], "bytes 0-0/600000"),
            ("bytes=299999-599998", &bytes[299_999..599_999], "bytes 299999-599998/600000"),
            ("bytes=599999-", &bytes[599_999..], "bytes 599999-599999/600000"),
            ("bytes=-3", &bytes[599_997..], "bytes 599997-599999/600000"),
            ("bytes=-700000", &bytes[..], "bytes 0-599999/600000"),
        ] {
            let answer = ask(&harness, "GET", &path, &[("range", range), ("if-range", &etag)]).await;
            assert_eq!(answer.status, 206, "{range}");
            assert!(answer.bytes == expected, "{range}");
            assert_eq!(answer.header("content-range"), content_range);
            assert_eq!(answer.header("content-length"), expected.len().to_string());
            assert_eq!(answer.header("content-type"), "application/octet-stream");
        }
        let outside = ask(&harness, "GET", &path, &[("range", "bytes=600000-")]).await;
        outside.envelope(416);
        assert_eq!(outside.header("content-range"), "bytes */600000");
        for headers in [
            &[("range", "bytes=0-0,2-3")][..],
            &[("range", "rows=1-2")],
            &[("range", "bytes=0-0"), ("if-range", "\"other\"")],
        ] {
            let answer = ask(&harness, "GET", &path, headers).await;
            assert_eq!((answer.status.as_u16(), answer.bytes.len()), (200, bytes.len()), "{headers:?}");
        }
        let head = ask(&harness, "HEAD", &path, &[("range", "bytes=0-0")]).await;
        assert_eq!((head.status.as_u16(), head.bytes.len()), (200, 0));
        assert_eq!(head.header("content-length"), "600000");
    }
}

#[tokio::test]
async fn the_audio_of_a_live_job_is_its_wave_file() {
    let harness = Harness::new().await;
    let file = harness.store_file("a session.wav", b"RIFF\0\0\0\0WAVE").await;
    let live = harness.add(Kind::Live, AudioSource::Stored(file.id), 1).await;
    for collection in ["live", "transcription"] {
        let answer = harness.get(&format!("/v2/{collection}/{live}/file/")).await;
        assert_eq!(answer.status, 200);
        assert!(answer.bytes.starts_with(b"RIFF"));
        assert_eq!(answer.header("content-type"), "application/octet-stream");
        assert_eq!(answer.header("content-disposition"), "attachment; filename*=UTF-8''a%20session.wav");
    }
}

#[tokio::test]
async fn audio_that_is_not_there_is_404() {
    let harness = Harness::new().await;
    // Not fetched yet, and gone from the disk.
    let waiting = harness.add(Kind::PreRecorded, elsewhere(), 1).await;
    let file = harness.store_file("a.wav", b"audio").await;
    harness.api.blobs.delete(file.facts.blob_key.as_ref().unwrap()).await.unwrap();
    let lost = harness.add(Kind::PreRecorded, AudioSource::Stored(file.id), 1).await;
    for id in [waiting, lost] {
        harness.get(&format!("/v2/pre-recorded/{id}/file")).await.envelope(404);
    }
    harness.get(&format!("/file/{}", file.id)).await.envelope(404);
}
