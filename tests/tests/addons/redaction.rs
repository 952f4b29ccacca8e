//! An add-on that redacts: what it masks stands nowhere, and when it fails nothing is delivered.

use serde_json::{Value, json};
use tympan_tests::disk::{files_left_with, files_with, holds};
use tympan_tests::server::{Options, Server};

use crate::{built, run};

/// Said in the recording, and never in a request of these tests.
const SPOKEN: &str = "fellow";

fn server() -> Server {
    let config = "[addons.redactor]\ntimeout_ms = 1500\n";
    Server::start(Options::default().addons(&[built("redactor"), built("hostile")]).config(config))
}

/// Nothing of the transcript may be left: not in the answer, not on the disk, not in the log.
async fn assert_nothing_is_left(server: &Server, job: &Value, case: &str) {
    assert_eq!(job["status"], "error", "{case}: {job}");
    assert_eq!(job["error_code"], 500, "{case}: {job}");
    assert_eq!(job["result"], Value::Null, "{case}");
    assert!(job["post_session_metadata"].to_string().contains("redactor"), "{case}: {job}");
    assert!(!holds(job.to_string().as_bytes(), SPOKEN), "{case}: {job}");
    assert_eq!(files_left_with(&server.data_dir(), SPOKEN).await, [""; 0], "{case}");
    assert!(!holds(server.log().as_bytes(), SPOKEN), "{case}:\n{}", server.log());
}

#[tokio::test]
async fn masked_words_stand_nowhere_in_the_result_and_on_the_disk() {
    let server = server();
    let more = json!({
        "redactor": true,
        "redactor_config": {"words": ["country", "Americans"]},
        "custom_spelling": true,
        "custom_spelling_config": {"spelling_dictionary": {"askest": ["ask"]}},
        "sentences": true,
        "subtitles": true,
        "subtitles_config": {"formats": ["srt", "vtt"]},
        "hostile": true,
    });
    let job = run(&server, more).await;
    assert_eq!(job["status"], "done", "{job}");
    let result = &job["result"];
    let transcription = &result["transcription"];
    let places = [
        &transcription["full_transcript"],
        &transcription["utterances"][0]["text"],
        &transcription["utterances"][0]["words"],
        &transcription["sentences"][0]["results"],
        &transcription["subtitles"][0]["subtitles"],
        &transcription["subtitles"][1]["subtitles"],
        &result["sentences"]["items"],
    ];
    for place in places {
        assert!(place.to_string().contains("[MASKED]"), "{place}");
    }
    assert!(transcription["full_transcript"].as_str().unwrap().contains("askest not what your [MASKED]"));
    assert_eq!(result["hostile"]["success"], true);
    // The request names the words, and rows keep the request.
    let blobs = server.data_dir().join("blobs");
    assert_ne!(files_with(&blobs, SPOKEN), [""; 0], "the result lies where it is looked for");
    for masked in ["country", "americans"] {
        assert!(!holds(result.to_string().as_bytes(), masked), "{masked}: {result}");
        assert_eq!(files_left_with(&blobs, masked).await, [""; 0], "{masked}");
    }
}

#[tokio::test]
async fn a_redaction_that_fails_delivers_and_leaves_nothing() {
    let server = server();
    for act in ["fail", "panic", "spin", "invalid"] {
        let more = json!({"redactor": true, "redactor_config": {"act": act}, "sentences": true});
        assert_nothing_is_left(&server, &run(&server, more).await, act).await;
    }
}

#[tokio::test]
async fn a_masked_value_in_the_result_of_another_addon_is_a_failed_redaction() {
    let server = server();
    let request = |told: &str| {
        json!({
            "redactor": true,
            "redactor_config": {"words": ["country"]},
            "hostile": true,
            "hostile_config": {"act": "echo", "told": told},
        })
    };
    let job = run(&server, request("your Country.")).await;
    assert_nothing_is_left(&server, &job, "a whole word").await;
    let mut half = request("the Americans of today");
    half["redactor_config"] = json!({"words": ["Americans", "ask"]});
    assert_nothing_is_left(&server, &run(&server, half).await, "half of two neighbouring words").await;
    let job = run(&server, request("the countryside")).await;
    assert_eq!(job["status"], "done", "part of another word is no leak: {job}");
    assert_eq!(job["result"]["hostile"]["results"]["told"], "the countryside");
}

#[tokio::test]
async fn no_addon_behind_a_redaction_sees_the_text_or_says_it_in_an_error() {
    let server = server();
    let mut request = json!({"redactor": true, "redactor_config": {"words": ["country"]}, "hostile": true});
    request["hostile_config"] = json!({"act": "own_error"});
    let job = run(&server, request).await;
    assert_eq!(job["status"], "done", "{job}");
    let error = &job["result"]["hostile"]["error"];
    // A name of the add-on's own making is text as well.
    assert_eq!(error["exception"], "AddonError");
    assert!(error["message"].as_str().unwrap().contains("withheld"), "{error}");
}
