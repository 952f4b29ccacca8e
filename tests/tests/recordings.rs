//! Real recordings through the real binary: what is said, in which language, when.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use tympan_tests::fixtures::{self, Recording};
use tympan_tests::recordings::Recordings;
use tympan_tests::server::{Options, Server, root};
use tympan_tests::wav;
use tympan_tests::wer::word_error_rate;

/// Read speech and the highest word error rate that the base model may have on it: the rates of
/// docs/quality.md, rounded up to a twentieth; characters for zh and ja.
const BOUNDS: &[(&str, f64)] = &[
    ("en/jfk.wav", 0.0),
    ("en/ljspeech_LJ001-0001.wav", 0.05),
    ("en/librispeech_1688-142285-0000.flac", 0.15),
    // Once written over and over, 112 words for five.
    ("en/librispeech_2414-128291-0000.flac", 0.4),
    // Once taken for Latin.
    ("en/librispeech_2033-164914-0001.flac", 0.4),
    ("en/fleurs-en-002.ogg", 0.25),
    ("en/sonnet_01.mp3", 0.2),
    ("de/kerstin_0004.webm", 0.1),
    ("de/fleurs-de-003.ogg", 0.15),
    ("es/fleurs-es-002.ogg", 0.05),
    ("fr/fleurs-fr-000.ogg", 0.3),
    ("it/pv_leopard_test_it.wav", 0.4),
    ("pt/pv_leopard_test_pt.wav", 0.05),
    ("nl/css10_20000_mijlen_0029.wav", 0.25),
    ("ru/css10_early_short_stories_0021.wav", 0.25),
    ("ja/pv_leopard_test_ja.wav", 0.1),
    ("ko/pv_leopard_test_ko.wav", 0.15),
    ("zh/aishell_BAC009S0724W0121.wav", 0.5),
];

#[tokio::test]
async fn read_speech_is_understood_in_each_language() {
    let server = Server::start(Options::default());
    let (client, files) = (server.client(), Recordings::serve(fixtures::folder()));
    let mut jobs = Vec::new();
    for (file, bound) in BOUNDS {
        jobs.push((fixtures::one(file), *bound, client.create(&json!({"audio_url": files.url(file)})).await));
    }
    let mut faults = Vec::new();
    for (recording, bound, id) in jobs {
        let job = client.wait(&id).await;
        faults.extend(check(&recording, bound, &job));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let log = server.log();
    assert!(!log.contains("countrymen") && !log.contains("country"), "the log holds transcript text");
}

fn check(recording: &Recording, bound: f64, job: &Value) -> Vec<String> {
    let file = &recording.file;
    if job["status"] != "done" {
        return vec![format!("{file}: {job}")];
    }
    let transcription = &job["result"]["transcription"];
    let language = recording.language.as_deref().unwrap_or_default();
    let heard = transcription["full_transcript"].as_str().unwrap();
    let rate =
        word_error_rate(recording.reference.as_deref().unwrap(), heard, matches!(language, "zh" | "ja"));
    let mut faults =
        times_are_sound(job).err().into_iter().map(|fault| format!("{file}: {fault}")).collect::<Vec<_>>();
    if rate > bound {
        faults.push(format!("{file}: word error rate {rate:.3} is over {bound}: {heard}"));
    }
    if transcription["languages"][0] != language {
        faults.push(format!("{file}: found {} instead of {language}", transcription["languages"]));
    }
    faults
}

/// Words lie in their utterance, utterances in the file, and time never goes back.
fn times_are_sound(job: &Value) -> Result<(), String> {
    let duration = job["file"]["audio_duration"].as_f64().ok_or("no duration")?;
    let mut last_start = 0.0;
    for utterance in job["result"]["transcription"]["utterances"].as_array().ok_or("no utterances")? {
        let (start, end) = (utterance["start"].as_f64().unwrap(), utterance["end"].as_f64().unwrap());
        if !(last_start <= start && start < end && end <= duration) {
            return Err(format!("an utterance from {start} to {end} after {last_start} in {duration} s"));
        }
        last_start = start;
        let words = utterance["words"].as_array().unwrap();
        let joined: String = words.iter().map(|word| word["word"].as_str().unwrap()).collect();
        if joined != utterance["text"].as_str().unwrap() {
            return Err("the words do not give the text".to_owned());
        }
        let mut last_end = start;
        for word in words {
            let (from, to) = (word["start"].as_f64().unwrap(), word["end"].as_f64().unwrap());
            let confidence = word["confidence"].as_f64().unwrap();
            if !(last_end <= from && from < to && to <= end && (0.0..=1.0).contains(&confidence)) {
                return Err(format!("a word from {from} to {to} after {last_end}, confidence {confidence}"));
            }
            last_end = to;
        }
    }
    Ok(())
}

#[tokio::test]
async fn whoever_speaks_next_is_heard_as_well_in_the_language_of_the_first() {
    let server = Server::start(Options::default());
    let client = server.client();
    let upload = async |files: [&str; 2], pause_ms: u32| {
        let answer = client.upload("a.wav", wav::joined(&files.map(fixtures::bytes), pause_ms)).await;
        answer.body["audio_url"].as_str().unwrap().to_owned()
    };
    // Once the text ended with the first speaker.
    let second = upload(["en/voices_sp0307_ch127535.wav", "en/jfk.wav"], 600).await;
    let job = client.run(&second, json!({"language_config": {"languages": ["en"]}})).await;
    let text = job["result"]["transcription"]["full_transcript"].as_str().unwrap();
    assert!(text.contains("curiosity") && text.contains("fellow Americans"), "{text}");
    assert!(text.contains("for your country"), "{text}");
    times_are_sound(&job).unwrap();

    // Once both were taken for the language that has more speech, and the first was lost.
    let other = upload(["en/jfk.wav", "de/pv_leopard_test_de.wav"], 3_000).await;
    let job = client.run(&other, json!({})).await;
    let transcription = &job["result"]["transcription"];
    assert_eq!(transcription["languages"], json!(["en"]), "{transcription}");
    let text = transcription["full_transcript"].as_str().unwrap();
    assert!(text.contains("fellow Americans") && text.contains("for your country"), "{text}");
}

#[tokio::test]
async fn each_channel_of_a_call_is_transcribed() {
    let server = Server::start(Options::default());
    let (client, files) = (server.client(), Recordings::serve(fixtures::folder()));
    let job = client.run(&files.url("stereo/call_8k_mulaw.wav"), json!({})).await;
    assert_eq!(job["status"], "done", "{job}");
    let metadata = &job["result"]["metadata"];
    assert_eq!(metadata["number_of_distinct_channels"], 2);
    let (duration, billed) =
        (metadata["audio_duration"].as_f64().unwrap(), metadata["billing_time"].as_f64().unwrap());
    assert!((billed - 2.0 * duration).abs() < 1e-6);
    let utterances = job["result"]["transcription"]["utterances"].as_array().unwrap();
    for channel in [0, 1] {
        assert!(
            utterances.iter().any(|utterance| utterance["channel"] == channel),
            "channel {channel} is silent"
        );
    }
    times_are_sound(&job).unwrap();
}

#[tokio::test]
async fn a_file_with_two_equal_channels_is_transcribed_and_billed_once() {
    let server = Server::start(Options::default());
    let (client, files) = (server.client(), Recordings::serve(fixtures::folder()));
    let job = client.run(&files.url("formats/stereo_48k.flac"), json!({})).await;
    let metadata = &job["result"]["metadata"];
    assert_eq!(metadata["number_of_distinct_channels"], 1, "{job}");
    assert_eq!(metadata["billing_time"], metadata["audio_duration"]);
    assert_eq!(job["file"]["number_of_channels"], 2);
}

#[tokio::test]
async fn code_switching_finds_the_language_of_each_utterance() {
    let server = Server::start(Options::default());
    let (client, files) = (server.client(), Recordings::serve(fixtures::folder()));
    let languages = json!({"languages": ["en", "fr", "de"], "code_switching": true});
    let url = files.url("codeswitch/cs_en_fr_de.flac");
    let job = client.run(&url, json!({"language_config": languages})).await;
    let mut found: Vec<&str> = job["result"]["transcription"]["languages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|language| language.as_str().unwrap())
        .collect();
    found.sort_unstable();
    assert_eq!(found, ["de", "en", "fr"], "{job}");
}

#[tokio::test]
async fn a_single_language_is_used_and_a_list_restricts_the_choice() {
    let server = Server::start(Options::default());
    let (client, files) = (server.client(), Recordings::serve(fixtures::folder()));
    let url = files.url("es/fleurs-es-002.ogg");
    for (languages, expected) in [(json!(["pt"]), "pt"), (json!(["fr", "it", "es"]), "es")] {
        let job = client.run(&url, json!({"language_config": {"languages": languages}})).await;
        assert_eq!(job["result"]["transcription"]["languages"][0], expected, "{job}");
    }
}

#[tokio::test]
async fn silence_is_done_and_empty() {
    let server = Server::start(Options::default());
    let (client, files) = (server.client(), Recordings::serve(fixtures::folder()));
    let more = json!({"sentences": true, "subtitles": true, "subtitles_config": {"formats": ["srt", "vtt"]}});
    let job = client.run(&files.url("damaged/silence_3s.wav"), more).await;
    assert_eq!(job["status"], "done", "{job}");
    let transcription = &job["result"]["transcription"];
    assert_eq!(transcription["full_transcript"], "");
    assert_eq!(transcription["utterances"], json!([]));
    assert_eq!(transcription["sentences"][0]["is_empty"], true);
    assert!(transcription["subtitles"][1]["subtitles"].as_str().unwrap().starts_with("WEBVTT"));
}

/// Recordings in which every word is heard as it was said, so that words pair off one to one.
const TIMED: [&str; 5] = [
    "en/jfk.wav",
    "en/librispeech_1995-1837-0001.wav",
    "en/ljspeech_LJ001-0004.wav",
    "en/pv_leopard_test.wav",
    "en/voices_sp0307_ch127535.wav",
];

/// Of all starts and ends of the recordings, how far they lie from those of an aligner that
/// shares nothing with Whisper (`tests/fixtures/words/make.py`): median and mean in seconds.
async fn word_time_errors(accurate: bool) -> (f64, f64) {
    let reference = root().join("tests/fixtures/words/en.json");
    let reference: Value = serde_json::from_slice(&std::fs::read(reference).unwrap()).unwrap();
    let server = Server::start(Options::default());
    let (client, files) = (server.client(), Recordings::serve(fixtures::folder()));
    let mut jobs = Vec::new();
    for file in TIMED {
        let request = json!({
            "audio_url": files.url(file),
            "accurate_words_timestamps": accurate,
            "language_config": {"languages": ["en"]},
        });
        jobs.push((file, client.create(&request).await));
    }
    let mut errors_s: Vec<f64> = Vec::new();
    for (file, id) in jobs {
        let job = client.wait(&id).await;
        times_are_sound(&job).unwrap();
        let utterances = job["result"]["transcription"]["utterances"].as_array().unwrap();
        let heard: Vec<&Value> =
            utterances.iter().flat_map(|utterance| utterance["words"].as_array().unwrap()).collect();
        let said = reference[file].as_array().unwrap();
        assert_eq!(heard.len(), said.len(), "{file}: {heard:?}");
        for (heard, said) in heard.into_iter().zip(said) {
            let text: String = heard["word"].as_str().unwrap().to_lowercase();
            assert_eq!(
                text.trim_matches(|c: char| !c.is_alphanumeric()),
                said[0].as_str().unwrap(),
                "{file}"
            );
            for (ours, theirs) in [(&heard["start"], &said[1]), (&heard["end"], &said[2])] {
                errors_s.push((ours.as_f64().unwrap() - theirs.as_f64().unwrap()).abs());
            }
        }
    }
    errors_s.sort_by(f64::total_cmp);
    (errors_s[errors_s.len() / 2], errors_s.iter().sum::<f64>() / errors_s.len() as f64)
}

#[tokio::test]
async fn word_times_are_those_of_an_independent_aligner() {
    let (median_s, mean_s) = word_time_errors(false).await;
    let (accurate_median_s, accurate_mean_s) = word_time_errors(true).await;
    let figures = format!(
        "median {median_s:.3} s, mean {mean_s:.4} s; accurate {accurate_median_s:.3} s, {accurate_mean_s:.4} s"
    );
    assert!(median_s <= 0.05 && mean_s <= 0.07, "{figures}");
    assert!(accurate_median_s <= 0.05 && accurate_mean_s <= 0.07, "{figures}");
    assert!((mean_s - accurate_mean_s).abs() > 0.0001, "the request changes nothing: {figures}");
}
