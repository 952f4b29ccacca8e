//! The add-ons of `examples/addons`, as components in the runtime of the service.

use serde_json::{Value, json};

use crate::support::{example, trial_of};

/// Agent on channel 0, customer on channel 1; a word lasts 0.4 s and starts every half second.
fn call() -> Value {
    let utterance = |channel: u16, start: f64, text: &str| {
        let mut words = Vec::new();
        for (index, word) in text.split_inclusive(' ').map(str::trim_end).enumerate() {
            let text = if index == 0 { word.to_owned() } else { format!(" {word}") };
            let word_start = start + 0.5 * index as f64;
            words
                .push(json!({"word": text, "start": word_start, "end": word_start + 0.4, "confidence": 0.9}));
        }
        let end = start + 0.5 * words.len() as f64 - 0.1;
        json!({"start": start, "end": end, "confidence": 0.9, "channel": channel, "language": "en",
               "words": words, "text": text})
    };
    let utterances = [
        utterance(0, 1.0, "Good morning, my name is Ana."),
        utterance(1, 5.0, "I want to speak to a manager."),
        utterance(0, 15.0, "I'll call you back tomorrow."),
    ];
    json!({"metadata": {"audio_duration": 20.0, "number_of_distinct_channels": 2},
           "transcription": {"languages": ["en"], "utterances": utterances}})
}

/// The same call as a finished job of the API.
fn job() -> Value {
    json!({"id": "45463597-20b7-4af7-b3b3-f5fb778203ab", "created_at": "2026-01-14T10:30:00.000Z",
           "result": call()})
}

fn succeeded(component: &str, config: &Value) -> Value {
    let run = trial_of(&example(component), &call(), &["--config", &config.to_string()]);
    serde_json::from_str(&run.succeeded()).unwrap()
}

#[test]
fn call_quality_reports_with_times() {
    let config = json!({"script": [
        {"name": "greeting", "any_of": ["my name is"], "within_first_s": 10},
        {"name": "farewell", "any_of": ["goodbye"]},
    ]});
    let out = succeeded("call_quality.wasm", &config);
    let report = &out["wrapper"]["results"];
    assert_eq!(report["script"]["score"], 0.5);
    assert_eq!(report["script"]["lines"][0]["start"], 2.0);
    assert_eq!(
        report["silences"]["items"][0],
        json!({"start": 8.4, "end": 15.0, "after": "customer",
                                                      "broken_by": "agent"})
    );
    assert_eq!(report["watch"][0]["phrase"], "speak to a manager");
    assert_eq!(report["watch"][0]["by"], "customer");
    assert_eq!(report["watch"][0]["start"], 6.5);
}

#[test]
fn follow_ups_finds_a_promise_and_its_printed_line_reaches_the_log() {
    let out = succeeded("follow_ups.wasm", &json!({"channels": [0]}));
    let promise = &out["wrapper"]["results"][0];
    assert_eq!(promise["text"], "I'll call you back tomorrow");
    assert_eq!((promise["start"].as_f64(), promise["end"].as_f64()), (Some(15.0), Some(17.4)));
    assert_eq!(promise["due_is_stated"], true);
    assert_eq!(out["log"], json!([{"level": "stdout", "text": "1 promises in 2 utterances"}]));
}

#[test]
fn a_recorded_job_is_tried_at_its_own_time() {
    let run = trial_of(&example("follow_ups.wasm"), &job(), &["--config", r#"{"channels": [0]}"#]);
    let out: Value = serde_json::from_str(&run.succeeded()).unwrap();
    assert_eq!(out["wrapper"]["results"][0]["due"], "2026-01-15");

    let mut undated = job();
    undated["created_at"] = json!("yesterday");
    let run = trial_of(&example("follow_ups.wasm"), &undated, &["--config", "{}"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("created_at must be a date"), "{}", run.stderr);
}

#[test]
fn a_python_error_is_typed_and_no_trap() {
    let run = trial_of(&example("follow_ups.wasm"), &call(), &["--config", r#"{"channels": [7]}"#]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let out: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(out["wrapper"]["error"]["status_code"], 422);
    assert_eq!(out["wrapper"]["error"]["exception"], "NoSuchChannel");
}

#[test]
fn a_python_config_is_refused_with_its_path() {
    let run = trial_of(&example("follow_ups.wasm"), &call(), &["--config", r#"{"channels": []}"#]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("follow_ups_config.channels must name a channel"), "{}", run.stderr);
}
