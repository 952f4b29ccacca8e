//! The job that a trial pretends to be, as the recorded one was.

use anyhow::Context;
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tympan_runtime::{Addon, AudioInfo, JobContext, PreviousOutput, Transcript};
use tympan_sdk::Recorded;

/// Job id of a trial whose JSON has none.
const NO_JOB_ID: &str = "00000000-0000-4000-8000-000000000000";

/// The runtime's type has the same shape as JSON; the numbers of the utterances are added.
pub(super) fn transcript(recorded: &Recorded) -> anyhow::Result<Transcript> {
    let mut transcript: Transcript = serde_json::from_value(serde_json::to_value(&recorded.transcript)?)?;
    transcript.number_utterances();
    Ok(transcript)
}

/// The job around the call, as it was where the JSON says so.
pub(super) fn context(addon: &Addon, recorded: Recorded, config: String, mode: &str) -> JobContext {
    let descriptor = addon.descriptor();
    let sees = |name: &String| descriptor.after.contains(name) || descriptor.requires.contains(name);
    let audio = recorded.audio;
    JobContext {
        job_id: recorded.job_id.unwrap_or_else(|| NO_JOB_ID.to_owned()),
        mode: mode.to_owned(),
        variant: None,
        config,
        audio: AudioInfo {
            duration: audio.duration_s,
            sample_rate: audio.sample_rate_hz,
            channels: audio.channels,
            frames: audio.frames,
        },
        previous: recorded
            .previous
            .into_iter()
            .filter(|p| sees(&p.name))
            .map(|p| PreviousOutput { name: p.name, status: p.status, result: p.result })
            .collect(),
        extra: Value::Object(recorded.extra).to_string(),
    }
}

/// The time of the job; now, where the JSON does not say it.
pub(super) fn accepted_at_unix_ms(recorded: &Recorded) -> anyhow::Result<u64> {
    let accepted_at = match &recorded.created_at {
        Some(text) => OffsetDateTime::parse(text, &Rfc3339).with_context(|| {
            format!("created_at must be a date such as 2026-01-14T10:30:00Z, it is {text:?}")
        })?,
        None => OffsetDateTime::now_utc(),
    };
    let unix_ms = accepted_at.unix_timestamp_nanos() / 1_000_000;
    u64::try_from(unix_ms).context("created_at must not be before 1970")
}
