//! What the sandbox costs: each add-on on a long transcript, as a component in the service's
//! runtime and as the same code compiled natively, in turn in one run. Prints Markdown.
//!
//! `cargo bench --workspace --bench addons -- TRANSCRIPT.json`, which `make bench` calls with a
//! transcript of one hour. Needs the components of `make build` and `make examples`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};
use tympan_runtime::{Addon, AudioInfo, Call, JobContext, Policy, Runtime, RuntimeSettings, Transcript};
use tympan_sdk::{Recorded, testing::Scenario};

/// Calls of each kind; the fastest is printed.
const RUNS: usize = 51;

/// Calls on an empty transcript, which take microseconds.
const SHORT_RUNS: usize = 2_001;

/// Goal for a component: so much of the native time …
const GOAL_FACTOR: f64 = 1.5;

/// … plus so many milliseconds.
const GOAL_EXTRA_MS: f64 = 10.0;

/// An add-on in both forms.
struct Subject {
    /// File of the component below `target`.
    file: &'static str,
    config: Value,
    native: fn(Value, Recorded) -> anyhow::Result<()>,
}

fn subjects() -> Vec<Subject> {
    let mut spellings: Value =
        (0..50).map(|n| (format!("Name{n}"), json!([format!("nayme {n}"), format!("beauty{n}")]))).collect();
    spellings["Thy"] = json!(["thy"]);
    spellings["Beauty"] = json!(["beauty", "beauties"]);
    vec![
        Subject {
            file: "addons/tympan_plugin_custom_spelling.wasm",
            config: json!({"spelling_dictionary": spellings}),
            native: run::<tympan_plugin_custom_spelling::CustomSpelling>,
        },
        Subject {
            file: "addons/tympan_plugin_sentences.wasm",
            config: json!({}),
            native: run::<tympan_plugin_sentences::Sentences>,
        },
        Subject {
            file: "addons/tympan_plugin_subtitles.wasm",
            config: json!({"formats": ["srt", "vtt"]}),
            native: run::<tympan_plugin_subtitles::Subtitles>,
        },
        Subject {
            file: "examples/call_quality.wasm",
            config: json!({}),
            native: run::<call_quality::CallQuality>,
        },
    ]
}

/// All that a component does between its two borders: config read, work done, result written.
fn run<A: tympan_sdk::Addon>(config: Value, recorded: Recorded) -> anyhow::Result<()> {
    let outcome = Scenario::new().recorded(recorded).config(config).run::<A>();
    std::hint::black_box(outcome.map_err(|error| anyhow::anyhow!("{}", error.message))?);
    Ok(())
}

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let file: PathBuf = arguments.next_back().context("name a file with the result of a job")?.into();
    let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let recorded = Recorded::from_json(&serde_json::from_str(&text)?)?;
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(compare(&recorded))
}

async fn compare(recorded: &Recorded) -> anyhow::Result<()> {
    let runtime = Runtime::new(RuntimeSettings::default())?;
    let mut long: Transcript = serde_json::from_value(json!(recorded.transcript))?;
    long.number_utterances();
    println!(
        "| add-on | native | component | goal | memory | empty transcript | instance alone |\n|---|---|---|---|---|---|---|"
    );
    for subject in subjects() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target").join(subject.file);
        let addon = runtime.load(&path, &Policy::default()).await?;
        let config = addon.validate_config(&subject.config.to_string()).await?;
        let (mut native, mut component, mut memory_bytes) = (Vec::new(), Vec::new(), 0);
        for _ in 0..RUNS {
            let copy = recorded.clone();
            let begun = Instant::now();
            (subject.native)(subject.config.clone(), copy)?;
            native.push(begun.elapsed());
            let (time, peak) = call(&addon, &config, &long, recorded.audio.duration_s).await?;
            component.push(time);
            memory_bytes = memory_bytes.max(peak);
        }
        let (mut short, mut started) = (Vec::new(), Vec::new());
        for _ in 0..SHORT_RUNS {
            short.push(call(&addon, &config, &Transcript::default(), 1.0).await?.0);
            let begun = Instant::now();
            addon.start().await.map_err(|error| anyhow::anyhow!("{}", error.exception))?;
            started.push(begun.elapsed());
        }
        let native_ms = fastest_ms(&native);
        println!(
            "| {} | {native_ms:.1} ms | {:.1} ms | {:.1} ms | {:.1} MiB | {:.0} µs | {:.0} µs |",
            addon.descriptor().name,
            fastest_ms(&component),
            GOAL_FACTOR * native_ms + GOAL_EXTRA_MS,
            memory_bytes as f64 / f64::from(1 << 20),
            1000.0 * fastest_ms(&short),
            1000.0 * fastest_ms(&started),
        );
    }
    Ok(())
}

/// One call as the service makes it: instance, values in and out, checks.
async fn call(
    addon: &Addon,
    config: &str,
    input: &Transcript,
    duration_s: f64,
) -> anyhow::Result<(Duration, u64)> {
    let context = JobContext {
        job_id: "00000000-0000-4000-8000-000000000000".to_owned(),
        mode: "pre-recorded".to_owned(),
        variant: None,
        config: config.to_owned(),
        audio: AudioInfo { duration: duration_s, sample_rate: 16_000, channels: 2, frames: 0 },
        previous: Vec::new(),
        extra: "{}".to_owned(),
    };
    let begun = Instant::now();
    let report = addon.process(Call::new(context, input)).await;
    let time = begun.elapsed();
    report.outcome.map_err(|error| anyhow::anyhow!("{}: {}", error.exception, error.message))?;
    Ok((time, report.peak_memory_bytes))
}

/// The fastest: what the work itself takes, whatever else the machine does.
fn fastest_ms(times: &[Duration]) -> f64 {
    1000.0 * times.iter().min().map_or(0.0, Duration::as_secs_f64)
}
