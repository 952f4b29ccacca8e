//! `tympan-addon test`: runs a component on a real result, in the service's runtime.

mod job;
mod wrapper;

use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use tympan_runtime::defaults::MEMORY_SLOT_BYTES;
use tympan_runtime::{Addon, Call, CallReport, ConfigError, ConfigProblem, Limits};
use tympan_sdk::Recorded;

use crate::args::TestArgs;
use crate::{runtime, schema};

/// Longest transcript or config that is read.
const MOST_TEXT_BYTES: u64 = 256_000_000;

pub(crate) fn run(args: &TestArgs) -> anyhow::Result<ExitCode> {
    let config = config_text(&args.config)?;
    let recorded = read_recorded(args)?;
    let input = job::transcript(&recorded)?;
    runtime::block_on(async {
        let bytes = runtime::read(&args.file).await?;
        let addon = runtime::load(bytes, &args.file, limits(args)?).await?;
        let config = validated(&addon, &config).await?;
        let accepted_at_unix_ms = job::accepted_at_unix_ms(&recorded)?;
        let context = job::context(&addon, recorded, config, &args.mode);
        let call = Call { accepted_at_unix_ms, ..Call::new(context, &input) };
        let report = addon.process(call).await;
        let trial = wrapper::of(&report, addon.descriptor());
        let succeeded = report.outcome.is_ok();
        if args.json {
            println!("{:#}", as_json(&trial, &report));
        } else {
            print!("{}", as_text(&trial, &report)?);
        }
        Ok(if succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
}

fn config_text(given: &str) -> anyhow::Result<String> {
    let text = match given.strip_prefix('@') {
        Some(file) => read(Path::new(file))?,
        None => given.to_owned(),
    };
    let value: Value = serde_json::from_str(&text).context("--config is no JSON")?;
    ensure!(value.is_object(), "--config must be a JSON object, such as {{\"limit\": 3}}");
    Ok(value.to_string())
}

/// A text of a bounded length: devices never end.
fn read(path: &Path) -> anyhow::Result<String> {
    let unreadable = || format!("cannot read {}", path.display());
    let mut text = String::new();
    let file = File::open(path).with_context(unreadable)?;
    file.take(MOST_TEXT_BYTES + 1).read_to_string(&mut text).with_context(unreadable)?;
    ensure!(text.len() as u64 <= MOST_TEXT_BYTES, "{} has more than 256 MB", path.display());
    Ok(text)
}

fn read_recorded(args: &TestArgs) -> anyhow::Result<Recorded> {
    let file = args.transcript.display();
    let text = read(&args.transcript)?;
    let document: Value = serde_json::from_str(&text).with_context(|| format!("{file} is no JSON"))?;
    Recorded::from_json(&document).with_context(|| file.to_string())
}

fn limits(args: &TestArgs) -> anyhow::Result<Limits> {
    let mut limits = Limits::default();
    if let Some(seconds) = args.timeout {
        let timeout = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        ensure!(!timeout.is_zero(), "--timeout must be a number of seconds above 0");
        limits.timeout = timeout;
    }
    if let Some(mebibytes) = args.memory {
        let most = MEMORY_SLOT_BYTES >> 20;
        ensure!((1..=most).contains(&mebibytes), "--memory must be between 1 and {most}");
        limits.memory_bytes = mebibytes << 20;
    }
    Ok(limits)
}

/// As in the service: the schema first, then the add-on's own rules.
async fn validated(addon: &Addon, config: &str) -> anyhow::Result<String> {
    let descriptor = addon.descriptor();
    let key = descriptor.config_key.as_deref().unwrap_or("config");
    let schema = schema::compile(&descriptor.config_schema).context("the config's schema")?;
    let problems = schema::problems(&schema, key, &serde_json::from_str(config)?);
    ensure!(problems.is_empty(), "the config is refused:\n  {}", problems.join("\n  "));
    match addon.validate_config(config).await {
        Ok(config) => Ok(config),
        Err(ConfigError::Problems(problems)) => {
            let sentence = |p: &ConfigProblem| format!("{} {}", schema::dotted(key, &p.pointer), p.message);
            let sentences: Vec<String> = problems.iter().map(sentence).collect();
            bail!("the config is refused:\n  {}", sentences.join("\n  "))
        }
        Err(ConfigError::Failed(error)) => {
            bail!("the add-on failed to check its config: {}: {}", error.exception, error.message)
        }
    }
}

fn as_json(trial: &wrapper::Trial, report: &CallReport) -> Value {
    let log: Vec<Value> =
        log_lines(report).map(|(level, text)| json!({"level": level, "text": text})).collect();
    json!({
        "wrapper": trial.wrapper,
        "transcript": trial.transcript,
        "variants": trial.variants,
        "log": log,
        "dropped_log_bytes": report.dropped_bytes,
        "exec_time_s": report.exec_time.as_secs_f64(),
        "peak_memory_bytes": report.peak_memory_bytes,
    })
}

fn as_text(trial: &wrapper::Trial, report: &CallReport) -> anyhow::Result<String> {
    let mut text = String::new();
    writeln!(text, "wrapper: {:#}", trial.wrapper)?;
    match &trial.transcript {
        Some(transcript) => writeln!(text, "changed transcript: {transcript:#}")?,
        None => writeln!(text, "transcript: unchanged")?,
    }
    for variant in &trial.variants {
        writeln!(text, "variant: {variant:#}")?;
    }
    for (level, line) in log_lines(report) {
        writeln!(text, "log {level}: {line}")?;
    }
    if report.dropped_bytes > 0 {
        writeln!(text, "log: {} bytes past the limit were dropped", report.dropped_bytes)?;
    }
    if let Some(location) = &report.panic_location {
        writeln!(text, "panicked at {location}")?;
    }
    let milliseconds = report.exec_time.as_secs_f64() * 1000.0;
    let mebibytes = report.peak_memory_bytes as f64 / f64::from(1 << 20);
    writeln!(text, "time: {milliseconds:.1} ms, memory: {mebibytes:.1} MiB")?;
    Ok(text)
}

fn log_lines(report: &CallReport) -> impl Iterator<Item = (&'static str, &str)> {
    report.log_text.iter().flatten().map(|line| (line.level, line.text.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_config_must_be_an_object() {
        assert_eq!(config_text(r#"{ "a": 1 }"#).unwrap(), r#"{"a":1}"#);
        assert!(config_text("[1]").unwrap_err().to_string().contains("must be a JSON object"));
        assert!(config_text("{").unwrap_err().to_string().contains("no JSON"));
        assert!(config_text("@no-such-file").unwrap_err().to_string().contains("no-such-file"));
    }
}
