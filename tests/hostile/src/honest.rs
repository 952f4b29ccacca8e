//! What the component does when it behaves: counts the words and marks the first.

use crate::exports::tympan::addon::manifest::Descriptor;
use crate::exports::tympan::addon::transform::{AddonOutput, Transcript};
use crate::runtime;

/// Rounds of honest work in a slow call; about a second.
const SLOW_ROUNDS: u64 = 500_000_000;

pub fn descriptor() -> Descriptor {
    Descriptor {
        name: "hostile".to_owned(),
        version: "0.1.0".to_owned(),
        summary: "Misbehaves as told".to_owned(),
        request_flag: "hostile".to_owned(),
        config_key: Some("hostile_config".to_owned()),
        config_schema: r#"{"type": "object", "properties": {"act": {"type": "string"}}}"#.to_owned(),
        result_schema: None,
        slot: "transcript".to_owned(),
        modes: vec!["pre-recorded".to_owned()],
        effects: Vec::new(),
        after: Vec::new(),
        requires: Vec::new(),
        capabilities: Vec::new(),
        extra: "{}".to_owned(),
    }
}

/// Puts an asterisk before the first word and counts all of them.
pub fn process(mut input: Transcript) -> AddonOutput {
    let words: usize = input.utterances.iter().map(|utterance| utterance.words.len()).sum();
    runtime::progress(0.5, "half way");
    runtime::log(runtime::Level::Info, "counted");
    if let Some(utterance) = input.utterances.first_mut() {
        utterance.words[0].text.insert(0, '*');
        utterance.text.insert(0, '*');
    }
    let result = Some(format!(r#"{{"words": {words}}}"#));
    AddonOutput { transcript: Some(input), result, variants: Vec::new() }
}

/// The same after a million reports of progress, back and forth and out of range.
pub fn process_with_progress(input: Transcript) -> AddonOutput {
    let note = "half way ".repeat(100);
    for round in 0..1_000_000_u32 {
        let fraction = [0.2, 0.9, -1.0, f32::NAN, f32::INFINITY][round as usize % 5];
        runtime::progress(fraction, &note);
    }
    process(input)
}

/// The same after a long computation.
pub fn process_slowly(input: Transcript) -> AddonOutput {
    let mut sum = 0_u64;
    for round in 0..SLOW_ROUNDS {
        sum = core::hint::black_box(sum.wrapping_add(round));
    }
    process(input)
}
