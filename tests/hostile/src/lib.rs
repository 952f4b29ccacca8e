//! One component with many ways to misbehave; the config names the one to use:
//! `{"act": "spin"}`. Without an act it is honest.
//!
//! Written against the bare contract, without the SDK, because the SDK would catch some
//! of it.

mod honest;
mod machine;
mod output;
mod reach;

wit_bindgen::generate!({
    world: "tympan:hostile/hostile",
    path: ["../../wit/0.1.0", "wit"],
    generate_all,
});

use exports::tympan::addon::manifest::{ConfigProblem, Descriptor, Guest as Manifest};
use exports::tympan::addon::transform::{
    AddonError, AddonOutput, Guest as Transform, JobContext, Transcript,
};
use tympan::addon::runtime;

struct Hostile;

impl Manifest for Hostile {
    fn describe() -> Descriptor {
        honest::descriptor()
    }

    fn validate_config(config: String) -> Result<String, Vec<ConfigProblem>> {
        match act(&config) {
            "spin_in_validation" => machine::spin(),
            "reject" => Err(vec![ConfigProblem {
                pointer: "/act".to_owned(),
                message: "must be something else".to_owned(),
            }]),
            "reject_often" => Err(output::problems(5_000)),
            "reject_without_end" => Err(output::problems(100_000)),
            "panic_in_validation" => machine::panic(),
            "garble" => Ok("not JSON".to_owned()),
            _ => Ok(config),
        }
    }
}

impl Transform for Hostile {
    fn process(context: JobContext, input: Transcript) -> Result<AddonOutput, AddonError> {
        match act(&context.config) {
            "" => Ok(honest::process(input)),
            "slow" => Ok(honest::process_slowly(input)),
            "spin" => machine::spin(),
            "spin_until_cancelled" => machine::spin_until_cancelled(),
            "memory_bomb" => machine::memory_bomb(),
            "recursion" => machine::recursion(),
            "panic" => machine::panic(),
            "unreachable" => core::arch::wasm32::unreachable(),
            "log_flood" => machine::log_flood(),
            "large_result" => output::result_of_bytes(17 << 20),
            "huge_result" => output::result_of_bytes(100 << 20),
            "broken_json" => output::result_text("{"),
            "nan_times" => output::changed(input, |utterance| utterance.words[0].end = f64::NAN),
            "reversed_times" => output::changed(input, |utterance| utterance.end = utterance.start - 1.0),
            "late_times" => output::changed(input, |utterance| utterance.end = 1e9),
            "wrong_channel" => output::changed(input, |utterance| utterance.channel = 77),
            "wrong_text" => output::changed(input, |utterance| utterance.text.push('!')),
            "same_ids" => output::changed(input, |utterance| utterance.id = 1),
            "dropped_transcript" => output::dropped(input),
            "word_flood" => output::word_flood(input),
            "variants" => output::variants(input),
            "variant_flood" => output::variant_flood(input),
            "deep_result" => output::result_text(&format!("{}{}", "[".repeat(10_000), "]".repeat(10_000))),
            "wide_result" => output::wide_result(),
            "odd_text" => output::odd_text(input),
            "progress_flood" => Ok(honest::process_with_progress(input)),
            "claims_to_be_cancelled" => output::claims_to_be_cancelled(),
            "own_error" => output::own_error(),
            "nonsense_error" => output::nonsense_error(),
            "sleep_an_hour" => reach::sleep(3600),
            "hoard_timers" => reach::hoard_timers(),
            "echo" => output::result_text(&context.config),
            "print" => reach::print(),
            "print_flood" => reach::print_flood(),
            "exit" => reach::exit(),
            "look_around" => reach::look_around(),
            other => panic!("unknown act {other}"),
        }
    }
}

/// The value of `act`, without a JSON parser.
fn act(config: &str) -> &str {
    let value = config.split_once("\"act\"").and_then(|(_, rest)| rest.split('"').nth(1));
    value.unwrap_or_default()
}

/// An output that leaves the transcript alone.
fn with_result(result: Option<String>) -> AddonOutput {
    AddonOutput { transcript: None, result, variants: Vec::new() }
}

export!(Hostile);
