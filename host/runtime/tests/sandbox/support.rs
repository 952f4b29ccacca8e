//! What the tests of the runtime share.

use std::path::PathBuf;

use tympan_runtime::{
    Addon, AddonError, AudioInfo, Call, CallReport, JobContext, Limits, Policy, Runtime, RuntimeSettings,
    Transcript, Utterance, Word,
};

/// A runtime that keeps nothing on disk.
pub fn runtime() -> Runtime {
    Runtime::new(RuntimeSettings::default()).expect("the engine starts")
}

/// The component of `tests/hostile`, loaded under these limits.
pub async fn hostile(runtime: &Runtime, limits: Limits) -> Addon {
    let policy = Policy { limits, ..Policy::default() };
    runtime.load(&hostile_path(), &policy).await.expect("the hostile component loads")
}

/// Where `make hostile` puts the component.
pub fn hostile_path() -> PathBuf {
    built("hostile/hostile.wasm", "make hostile")
}

/// A file in the target folder that this command makes.
pub fn built(name: &str, command: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target").join(name);
    assert!(path.exists(), "target/{name} is missing: run `{command}` first");
    path
}

/// Two utterances, three words, two channels, five seconds.
pub fn transcript() -> Transcript {
    let word = |text: &str, start: f64, end: f64| Word { text: text.to_owned(), start, end, confidence: 0.9 };
    let utterance = |id, channel, words: Vec<Word>| Utterance {
        id,
        start: words[0].start,
        end: words[words.len() - 1].end,
        confidence: 0.9,
        channel,
        speaker: None,
        language: Some("en".to_owned()),
        text: words.iter().map(|word| word.text.as_str()).collect(),
        words,
        extra: None,
    };
    let first = utterance(1, 0, vec![word("hello", 0.5, 1.0), word(" there", 1.0, 1.5)]);
    let second = utterance(2, 1, vec![word("yes", 3.0, 3.2)]);
    Transcript { utterances: vec![first, second], languages: vec!["en".to_owned()], extra: None }
}

/// The job around a call, with this config.
pub fn context(config: &str) -> JobContext {
    JobContext {
        job_id: "4f0f8ac7".to_owned(),
        mode: "pre-recorded".to_owned(),
        variant: None,
        config: config.to_owned(),
        audio: AudioInfo { duration: 5.0, sample_rate: 16_000, channels: 2, frames: 80_000 },
        previous: Vec::new(),
        extra: "{}".to_owned(),
    }
}

/// Config that makes the hostile component do this.
pub fn act(name: &str) -> String {
    format!(r#"{{"act": "{name}"}}"#)
}

/// Runs an add-on once.
pub async fn run(addon: &Addon, config: &str) -> CallReport {
    addon.process(Call::new(context(config), &transcript())).await
}

/// The error that a call must end with.
#[track_caller]
pub fn error(report: &CallReport) -> &AddonError {
    report.outcome.as_ref().expect_err("the call must fail")
}
