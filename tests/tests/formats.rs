//! Every format and every damaged file through the real binary.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use tympan_tests::fixtures;
use tympan_tests::recordings::Recordings;
use tympan_tests::server::{Options, Server};
use tympan_tests::wer::word_error_rate;

/// Formats that are not decoded, with a word that the error must name.
const NOT_DECODED: &[(&str, &str)] = &[("formats/amr_nb.amr", "AMR"), ("formats/wma.wma", "WMA")];

async fn all_of_kind(prefix: &str) -> Vec<(fixtures::Recording, Value)> {
    let server = Server::start(Options::default());
    let (client, files) = (server.client(), Recordings::serve(fixtures::folder()));
    let mut jobs = Vec::new();
    for recording in fixtures::all().into_iter().filter(|recording| recording.file.starts_with(prefix)) {
        let body = json!({"audio_url": files.url(&recording.file), "language_config": {"languages": ["en"]}});
        jobs.push((recording, client.create(&body).await));
    }
    let mut ended = Vec::new();
    for (recording, id) in jobs {
        ended.push((recording, client.wait(&id).await));
    }
    ended
}

#[tokio::test]
async fn every_format_is_transcribed_or_named() {
    let mut faults = Vec::new();
    for (recording, job) in all_of_kind("formats/").await {
        let file = recording.file.as_str();
        if let Some((_, codec)) = NOT_DECODED.iter().find(|(name, _)| *name == file) {
            let text = job["post_session_metadata"].to_string();
            if job["error_code"] != 422 || !text.contains(codec) || !text.contains("ffmpeg") {
                faults.push(format!("{file}: must name {codec} and a conversion: {job}"));
            }
            continue;
        }
        // One recording counts, and the model may write digits.
        let heard = job["result"]["transcription"]["full_transcript"].as_str().unwrap_or_default();
        let heard = heard.replace('1', "one").replace('2', "two").replace('3', "three");
        let rate = word_error_rate(recording.reference.as_deref().unwrap(), &heard, false);
        let duration = job["file"]["audio_duration"].as_f64().unwrap_or_default();
        // Encoders may pad up to two frames of 1,024 samples.
        if job["status"] != "done" || rate > 0.1 || (duration - recording.duration.unwrap()).abs() > 0.15 {
            faults.push(format!("{file}: rate {rate:.2}, {duration} s: {job}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tokio::test]
async fn every_damaged_file_gives_a_result_or_a_sentence() {
    let mut faults = Vec::new();
    for (recording, job) in all_of_kind("damaged/").await {
        let file = &recording.file;
        let is_done = job["status"] == "done";
        match recording.expect.as_deref() {
            Some("decode") if !is_done => faults.push(format!("{file}: {job}")),
            Some("error") if is_done => faults.push(format!("{file} is accepted: {job}")),
            _ => {}
        }
        let code = job["error_code"].as_u64().unwrap_or_default();
        let sentence = job["post_session_metadata"]["error"]["message"].as_str().unwrap_or_default();
        if !is_done && (!(400..500).contains(&code) || sentence.is_empty() || sentence.contains('/')) {
            faults.push(format!("{file}: error {code} {sentence:?}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Recordings put one after the other make one Ogg file, and no header says how long it is.
#[tokio::test]
async fn an_upload_of_several_ogg_streams_has_the_length_of_all() {
    let server = Server::start(Options::default());
    let client = server.client();
    for files in
        [["formats/opus.opus", "en/fleurs-en-003.ogg"], ["en/fleurs-en-003.ogg", "formats/vorbis.ogg"]]
    {
        let mut all = Vec::new();
        let mut sum_s = 0.0;
        for file in files {
            let bytes = fixtures::bytes(file);
            sum_s += length_of(&client.upload("one.ogg", bytes.clone()).await.body);
            all.extend(bytes);
        }
        let uploaded = client.upload("all.ogg", all).await.body;
        assert!((length_of(&uploaded) - sum_s).abs() < 0.05, "{files:?}: {sum_s} s, {uploaded}");
    }
}

fn length_of(uploaded: &Value) -> f64 {
    uploaded["audio_metadata"]["audio_duration"].as_f64().unwrap()
}
