//! The hostile component over the real binary: each attack ends as one error, and costs nobody
//! else anything.

use serde_json::json;
use tympan_tests::fixtures;
use tympan_tests::recordings::Recordings;
use tympan_tests::server::{Options, Server};

use crate::{RECORDING, SHORT_TIMEOUTS, built, run};

/// What the hostile component does and the exception that it must end in.
const ATTACKS: &[(&str, &str)] = &[
    ("spin", "Timeout"),
    ("sleep_an_hour", "Timeout"),
    ("memory_bomb", "MemoryLimit"),
    ("recursion", "StackOverflow"),
    ("panic", "Panic"),
    ("unreachable", "Trap"),
    ("huge_result", "OutputTooLarge"),
    ("nan_times", "InvalidOutput"),
    ("reversed_times", "InvalidOutput"),
    ("word_flood", "InvalidOutput"),
    ("hoard_timers", "HandleLimit"),
    ("variant_flood", "InvalidOutput"),
    ("deep_result", "InvalidOutput"),
    ("wide_result", "InvalidOutput"),
    // What it says of itself in the words of the host: the job is not cancelled by it.
    ("claims_to_be_cancelled", "AddonError"),
];

#[tokio::test]
async fn every_attack_ends_as_one_wrapper_beside_honest_jobs() {
    let server = Server::start(Options::default().addons(&[built("hostile")]).config(SHORT_TIMEOUTS));
    let files = Recordings::serve(fixtures::folder());
    let client = server.client();
    let mut attacks = Vec::new();
    for (act, exception) in ATTACKS {
        let body = json!({
            "audio_url": files.url(RECORDING),
            "language_config": {"languages": ["en"]},
            "hostile": true,
            "hostile_config": {"act": act},
        });
        attacks.push((act, exception, client.create(&body).await));
    }
    let honest = run(&server, json!({"sentences": true})).await;
    assert_eq!(honest["result"]["sentences"]["success"], true, "{honest}");
    let mut faults = Vec::new();
    for (act, exception, id) in attacks {
        let job = client.wait(&id).await;
        let text = job["result"]["transcription"]["full_transcript"].as_str().unwrap_or_default();
        let error = &job["result"]["hostile"]["error"];
        if job["status"] != "done" || !text.contains("country") || error["exception"] != *exception {
            faults.push(format!("{act}: expected {exception}, got {error}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(client.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn floods_and_odd_characters_are_no_crime_and_do_no_harm() {
    let server = Server::start(Options::default().addons(&[built("hostile")]));
    for act in ["progress_flood", "odd_text"] {
        let job =
            run(&server, json!({"hostile": true, "hostile_config": {"act": act}, "subtitles": true})).await;
        assert_eq!(job["status"], "done", "{act}: {job}");
        assert_eq!(job["result"]["hostile"]["success"], true, "{act}: {}", job["result"]["hostile"]);
        assert!(job["result"]["transcription"]["subtitles"][0].is_object(), "{act}");
    }
}

#[tokio::test]
async fn a_config_check_that_misbehaves_costs_one_short_answer_or_one_wrapper() {
    let server = Server::start(Options::default().addons(&[built("hostile")]));
    let wish =
        |act: &str| json!({"audio_url": "http://x.test/a", "hostile": true, "hostile_config": {"act": act}});
    let refused = server.client().post("/v2/pre-recorded", &wish("reject_often")).await;
    assert_eq!(refused.status, 400, "{}", refused.body);
    assert_eq!(refused.body["validation_errors"].as_array().unwrap().len(), 50);
    // What the add-on cannot say is no fault of the client, and the call tells.
    for act in ["reject_without_end", "panic_in_validation", "garble"] {
        let job = run(&server, json!({"hostile": true, "hostile_config": {"act": act}})).await;
        assert_eq!(job["status"], "done", "{act}: {job}");
        assert_eq!(job["result"]["hostile"]["error"]["exception"], "Trap", "{act}");
    }
}
