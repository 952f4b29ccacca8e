//! `test`: what the API returned goes in as it is, the wrapper comes out.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Run, author, run, trial_of};

fn trial(transcript: &Value, more: &[&str]) -> Run {
    trial_of(author().component.to_str().unwrap(), transcript, more)
}

fn transcription() -> Value {
    let text = fs::read_to_string(author().krate.join("transcript.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

const CONFIG: [&str; 2] = ["--config", r#"{"phrases": ["Thank you"]}"#];

#[test]
fn a_job_a_result_and_a_transcription_give_the_same_answer() {
    let result = json!({
        "metadata": {"audio_duration": 7.0, "number_of_distinct_channels": 2, "billing_time": 14.0,
                     "transcription_time": 0.4},
        "transcription": transcription(),
    });
    let job = json!({"id": "45463597-20b7-4af7-b3b3-f5fb778203ab", "request_id": "G-1a2b3c4d", "version": 2,
                     "status": "done", "error_code": null, "result": result});
    for document in [job, result, transcription()] {
        let out: Value = serde_json::from_str(&trial(&document, &CONFIG).succeeded()).unwrap();
        let wrapper = &out["wrapper"];
        assert_eq!(wrapper["success"], true);
        assert_eq!(wrapper["is_empty"], false);
        assert_eq!(wrapper["error"], Value::Null);
        assert_eq!(wrapper["results"], json!([{"phrase": "Thank you", "start": 3.0}]));
        assert_eq!(out["transcript"], Value::Null);
        assert_eq!(out["log"], json!([{"level": "info", "text": "1 hits"}]));
        assert!(out["peak_memory_bytes"].as_u64().unwrap() > 0);
        assert!(out["exec_time_s"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn nothing_found_is_an_empty_success() {
    let config = ["--config", r#"{"phrases": ["never said"]}"#];
    let out: Value = serde_json::from_str(&trial(&transcription(), &config).succeeded()).unwrap();
    assert_eq!(out["wrapper"]["is_empty"], true);
    assert_eq!(out["wrapper"]["results"], json!([]));
}

#[test]
fn a_refused_config_names_the_path_of_the_request() {
    let refused = trial(&transcription(), &["--config", r#"{"phrases": [1]}"#]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("phrase_finder_config.phrases.0: "), "{}", refused.stderr);
    let too_few = trial(&transcription(), &["--config", r#"{"phrases": []}"#]);
    assert_eq!(too_few.code, Some(2));
    assert!(too_few.stderr.contains("phrase_finder_config.phrases: "), "{}", too_few.stderr);
}

#[test]
fn a_call_that_breaks_a_limit_ends_with_its_wrapper_and_code_1() {
    // Enough for the add-on alone, not for 2,000 copies of the call.
    let mut long = transcription();
    let utterance = long["utterances"][0].clone();
    long["utterances"] = vec![utterance; 2000].into();
    let failed = trial(&long, &[CONFIG[0], CONFIG[1], "--memory", "2"]);
    assert_eq!(failed.code, Some(1), "{}", failed.stderr);
    let out: Value = serde_json::from_str(&failed.stdout).unwrap();
    assert_eq!(out["wrapper"]["success"], false);
    assert_eq!(out["wrapper"]["error"]["exception"], "MemoryLimit");
    assert_eq!(out["wrapper"]["results"], Value::Null);
}

#[test]
fn a_job_without_a_result_is_refused_with_a_sentence() {
    let queued = json!({"id": "a", "status": "queued", "result": null});
    let refused = trial(&queued, &CONFIG);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("the job has no result"), "{}", refused.stderr);
}

#[test]
fn a_missing_file_is_named() {
    let component = author().component.to_str().unwrap();
    let refused = run(Path::new("/"), &["test", component, "--transcript", "no-such.json"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("cannot read no-such.json"), "{}", refused.stderr);
}
