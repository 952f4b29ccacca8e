//! The real stages, as far as they go without a speech model.

use std::sync::Arc;

use serde_json::json;

use super::script::{House, error_of, wait_for};
use crate::addons::{Library, LibrarySettings};
use crate::engine::{Engine, EngineSettings, SpeechModelSettings};
use crate::model::id::{AccountId, BlobArea, FileId, JobId};
use crate::model::job::{AudioSource, Status};
use crate::model::result::JobResult;
use crate::stage::decode::DecodeLimits;
use crate::stage::fetch::FetchPolicy;
use crate::store::{FileFacts, FileRecord};
use crate::worker::*;

/// Stages with a file that is no model in the place of one.
async fn stages(house: &House) -> Stages {
    let file = house.folder.path().join("model.bin");
    std::fs::write(&file, b"not a model").expect("writes");
    let model = SpeechModelSettings { file, languages: None, code_switching: true };
    let settings = EngineSettings { threads: 1, models: [("stt-1".to_owned(), model)].into() };
    let runtime = tympan_runtime::Runtime::new(Default::default()).expect("a runtime");
    Stages {
        blobs: house.blobs.clone(),
        engine: Engine::new(settings).expect("an engine"),
        library: Arc::new(Library::open(runtime, LibrarySettings::default()).await),
        fetch_policy: FetchPolicy { allow_private: true, ..FetchPolicy::default() },
        decode_limits: DecodeLimits::default(),
        model_digests: ModelDigests::default(),
    }
}

async fn add_upload(house: &House, bytes: &[u8]) -> JobId {
    let stored = house.blobs.put_stream(BlobArea::Audio, bytes, u64::MAX).await.expect("stores");
    let facts = FileFacts {
        size_bytes: Some(stored.size_bytes),
        sha256: Some(stored.sha256),
        blob_key: Some(stored.key),
        ..FileFacts::default()
    };
    let file = FileRecord {
        id: FileId::new(),
        account_id: AccountId("one".to_owned()),
        source: None,
        created_ms: house.clock.now_ms(),
        facts,
    };
    let id = file.id;
    house.store.insert_file(file).await.expect("inserted");
    house.add_job_over(AudioSource::Stored(id)).await
}

/// Two channels of 16-bit samples at 8 kHz, all zero.
fn silent_wav(seconds: u32) -> Vec<u8> {
    let data_bytes = seconds * 8_000 * 4;
    let mut wav = Vec::new();
    wav.extend(b"RIFF");
    wav.extend((36 + data_bytes).to_le_bytes());
    wav.extend(b"WAVEfmt ");
    wav.extend(16_u32.to_le_bytes());
    wav.extend([1_u16, 2].map(u16::to_le_bytes).concat());
    wav.extend([8_000_u32, 32_000].map(u32::to_le_bytes).concat());
    wav.extend([4_u16, 16].map(u16::to_le_bytes).concat());
    wav.extend(b"data");
    wav.extend(data_bytes.to_le_bytes());
    wav.resize(wav.len() + data_bytes as usize, 0);
    wav
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_is_done_without_the_speech_model() {
    let house = House::open().await;
    let worker = house.start_with(stages(&house).await);
    let id = add_upload(&house, &silent_wav(3)).await;
    let result: JobResult = serde_json::from_slice(&house.result(id).await).expect("parses");
    assert_eq!((result.metadata.audio_duration, result.metadata.billing_time), (3.0, 3.0));
    assert_eq!(result.metadata.number_of_distinct_channels, 1, "both channels are equal");
    assert_eq!(result.transcription.full_transcript, "");
    assert_eq!(result.transcription.utterances, []);
    let facts = house.job(id).await.file.expect("a file").facts;
    assert_eq!((facts.audio_duration_s, facts.number_of_channels), (Some(3.0), Some(2)));
    worker.stop().await;
    wait_for("clean folders", async || house.leftovers().is_empty().then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn text_is_refused_with_a_sentence() {
    let house = House::open().await;
    let worker = house.start_with(stages(&house).await);
    let id = add_upload(&house, b"This is a letter and no audio at all.\n".repeat(20).as_slice()).await;
    let job = house.wait_final(id).await;
    let (code, error) = error_of(&job);
    assert_eq!((code, &error["name"], &error["step"]), (Some(400), &json!("not_audio"), &json!("decode")));
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_gone_and_a_url_without_a_host_are_told_apart() {
    let house = House::open().await;
    let worker = house.start_with(stages(&house).await);
    let gone = house.add_job_over(AudioSource::Stored(FileId::new())).await;
    let (code, error) = error_of(&house.wait_final(gone).await);
    assert_eq!((code, &error["name"]), (Some(404), &json!("audio_gone")));
    // Port 9 of this machine: refused, so it may be up again later.
    let down = house.add_job_over(AudioSource::Url("http://127.0.0.1:9/a.wav".to_owned())).await;
    wait_for("a retry", async || {
        house.clock.advance(500);
        let claims = house.store.is_unfinished(down).await.expect("reads");
        (house.job(down).await.status == Status::Processing && claims).then_some(())
    })
    .await;
    house.clock.advance(2 * 3_600_000);
    let (code, error) = error_of(&house.wait_final(down).await);
    assert_eq!((code, &error["name"]), (Some(502), &json!("audio_host_down")));
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn speech_without_a_usable_model_is_tried_twice() {
    let house = House::open().await;
    let worker = house.start_with(stages(&house).await);
    let speech = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/audio/en/fleurs-en-003.ogg");
    let id = add_upload(&house, &std::fs::read(speech).expect("a fixture")).await;
    let job = wait_for("the end", async || {
        house.clock.advance(1_000);
        let job = house.job(id).await;
        job.completed_ms.map(|_| job)
    })
    .await;
    let (code, error) = error_of(&job);
    assert_eq!((code, &error["name"]), (Some(503), &json!("model_unavailable")));
    assert_eq!(error["step"], json!("transcribe"));
    assert_eq!(job.post_session_metadata["attempts"], json!(2));
    assert!(!error["message"].as_str().expect("text").contains("model.bin"), "no path for the client");
    worker.stop().await;
}
