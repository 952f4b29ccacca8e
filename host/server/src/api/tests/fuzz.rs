//! The request parser over arbitrary bytes and texts: always an answer, never a panic.

use proptest::prelude::*;

use super::{AUDIO, Harness};
use crate::validate::{Rejection, object};

/// Cuts, doubles and flips bytes of a valid request.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let valid = format!(
        r#"{{"audio_url":"{AUDIO}","subtitles":true,"subtitles_config":{{"formats":["srt"],"maximum_duration":7.5}},"language_config":{{"languages":["en"]}},"custom_metadata":{{"a":[1,null,"é"]}}}}"#
    );
    let length = valid.len();
    prop::collection::vec((0..length, any::<u8>()), 0..8).prop_map(move |changes| {
        let mut bytes = valid.clone().into_bytes();
        for (at, byte) in changes {
            match byte % 3 {
                0 => bytes[at % length] = byte,
                1 => bytes.insert(at, byte),
                _ => bytes.truncate(at.max(length / 2)),
            }
            bytes.resize(bytes.len().max(length), b' ');
        }
        bytes
    })
}

proptest! {
    #[test]
    fn bytes_are_an_object_or_a_sentence(bytes in prop_oneof![prop::collection::vec(any::<u8>(), 0..200), damaged()]) {
        if let Err(rejection) = object(&bytes) {
            let Rejection::Invalid(entries) = rejection else { panic!() };
            prop_assert!(entries.len() == 1 && entries[0].starts_with("body must be "));
        }
    }
}

#[test]
fn damaged_requests_get_an_id_or_an_envelope() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let harness = runtime.block_on(Harness::new());
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(200));
    let outcome = runner.run(&damaged(), |bytes| {
        let answer = runtime.block_on(harness.post_text("/v2/pre-recorded", bytes));
        match answer.status.as_u16() {
            200 => assert!(answer.json()["id"].is_string()),
            status @ (400 | 422) => drop(answer.envelope(status)),
            status => panic!("status {status}"),
        }
        Ok(())
    });
    outcome.unwrap();
}
