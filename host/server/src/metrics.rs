//! What is counted and timed, under the names that Prometheus sees.
//!
//! Every name and label stands here and nowhere else. Labels are routes, steps, add-ons and
//! codes: their number is bounded, and none says whose job it is or what was spoken.

use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use ::metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

use crate::store::Backlog;

const JOBS: &str = "tympan_jobs";
const LIVE_SESSIONS: &str = "tympan_live_sessions";
const DELIVERIES_OWED: &str = "tympan_deliveries_owed";
const MEMORY: &str = "process_resident_memory_bytes";
const JOBS_ENDED: &str = "tympan_jobs_ended_total";
const JOB_DURATION: &str = "tympan_job_duration_seconds";
const STEP_DURATION: &str = "tympan_job_step_duration_seconds";
const AUDIO: &str = "tympan_audio_duration_seconds";
const REAL_TIME_FACTOR: &str = "tympan_real_time_factor";
const ADDON_DURATION: &str = "tympan_addon_duration_seconds";
const ADDON_FAILURES: &str = "tympan_addon_failures_total";
const ADDON_DENIALS: &str = "tympan_addon_denials_total";
const DELIVERIES: &str = "tympan_delivery_attempts_total";
const REQUESTS: &str = "tympan_http_request_duration_seconds";

/// Upper bounds in seconds: from a request of a millisecond to a job of hours.
const DURATIONS_S: [f64; 16] =
    [0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0];
/// Upper bounds of processing time over audio time; above 1 the machine is too slow.
const FACTORS: [f64; 9] = [0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 1.0, 2.0, 10.0];

static PROMETHEUS: LazyLock<PrometheusHandle> = LazyLock::new(|| {
    let recorder = recorder();
    let handle = recorder.handle();
    // Without it nothing is counted; somebody else's recorder in this process is as good.
    let _ = ::metrics::set_global_recorder(recorder);
    describe();
    handle
});

/// Held from the setting of the gauges to their rendering, so that an answer shows its own.
static RENDERING: Mutex<()> = Mutex::new(());

fn recorder() -> PrometheusRecorder {
    PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &DURATIONS_S)
        .and_then(|builder| {
            builder.set_buckets_for_metric(Matcher::Full(REAL_TIME_FACTOR.to_owned()), &FACTORS)
        })
        .expect("there are buckets")
        .build_recorder()
}

/// Starts counting. What happens before is not counted.
pub fn init() {
    LazyLock::force(&PROMETHEUS);
}

/// Everything as Prometheus reads it (text format 0.0.4). `backlog` is what waits and runs now.
pub fn render(backlog: &Backlog) -> String {
    render_from(&PROMETHEUS, backlog)
}

fn render_from(recorded: &PrometheusHandle, backlog: &Backlog) -> String {
    let _alone = RENDERING.lock().unwrap_or_else(PoisonError::into_inner);
    gauge!(JOBS, "state" => "queued").set(backlog.jobs.queued as f64);
    gauge!(JOBS, "state" => "processing").set(backlog.jobs.processing as f64);
    gauge!(LIVE_SESSIONS).set(backlog.live_sessions as f64);
    gauge!(DELIVERIES_OWED).set(backlog.deliveries as f64);
    if let Some(bytes) = resident_bytes() {
        gauge!(MEMORY).set(bytes as f64);
    }
    recorded.run_upkeep();
    recorded.render()
}

/// A job is final; `code` is `200`, or its `error_code`. `age` counts from its receipt.
pub fn job_ended(code: u16, age: Duration) {
    counter!(JOBS_ENDED, "code" => code.to_string()).increment(1);
    histogram!(JOB_DURATION).record(age);
}

/// A step of a job's path has run.
pub fn step_finished(step: &'static str, took: Duration) {
    histogram!(STEP_DURATION, "step" => step).record(took);
}

/// `audio_s` seconds of audio, channels added up, went from file to result in `took`.
pub fn transcribed(audio_s: f64, took: Duration) {
    histogram!(AUDIO).record(audio_s);
    if audio_s > 0.0 {
        histogram!(REAL_TIME_FACTOR).record(took.as_secs_f64() / audio_s);
    }
}

/// An add-on was called; `exception` is set when it failed.
pub fn addon_called(addon: &str, took_s: f64, exception: Option<&'static str>) {
    let addon = addon.to_owned();
    histogram!(ADDON_DURATION, "addon" => addon.clone()).record(took_s);
    if let Some(exception) = exception {
        counter!(ADDON_FAILURES, "addon" => addon, "exception" => exception).increment(1);
    }
}

/// An add-on was not loaded because it asks for something that nobody granted. It never ran to
/// tell its name: `file` is that of its file, without the ending.
pub fn addon_denied(file: &str) {
    counter!(ADDON_DENIALS, "addon" => file.to_owned()).increment(1);
}

/// A delivery was tried; `outcome` is `delivered`, `failed` or `given_up`.
pub fn delivery_tried(target: &'static str, outcome: &'static str) {
    counter!(DELIVERIES, "target" => target, "outcome" => outcome).increment(1);
}

/// A request was answered; `route` is the template of its path.
pub fn request_answered(route: &'static str, method: &str, status: u16, took: Duration) {
    let labels = [("route", route.to_owned()), ("method", method.to_owned()), ("status", status.to_string())];
    histogram!(REQUESTS, &labels).record(took);
}

fn describe() {
    describe_gauge!(JOBS, "Recorded jobs that are not final.");
    describe_gauge!(LIVE_SESSIONS, "Live jobs that are not final.");
    describe_gauge!(DELIVERIES_OWED, "Callbacks and webhooks that wait for their next try.");
    describe_gauge!(MEMORY, "Resident memory of this process.");
    describe_counter!(JOBS_ENDED, "Jobs that became final, by error code; 200 for success.");
    describe_histogram!(JOB_DURATION, "From the receipt of a job to its end.");
    describe_histogram!(STEP_DURATION, "Time of each step of a job's path.");
    describe_histogram!(AUDIO, "Audio of each finished job, each channel counted.");
    describe_histogram!(REAL_TIME_FACTOR, "Transcription time over audio time of finished jobs.");
    describe_histogram!(ADDON_DURATION, "Time of each call of an add-on.");
    describe_counter!(ADDON_FAILURES, "Failed calls of an add-on, by exception.");
    describe_counter!(ADDON_DENIALS, "Loads refused because an add-on asks for something not granted.");
    describe_counter!(DELIVERIES, "Tries to deliver a callback or webhook, by outcome.");
    describe_histogram!(REQUESTS, "Time to answer a request, by route.");
}

/// From `/proc/self/statm` (proc(5)), whose second number counts pages of 4 KiB on the
/// processors that we build for.
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::QueueCounts;

    #[test]
    fn what_happened_is_rendered_with_bounded_labels() {
        let backlog =
            Backlog { jobs: QueueCounts { queued: 3, processing: 2 }, live_sessions: 1, deliveries: 5 };
        // Other tests count with the recorder of the process.
        let recorder = recorder();
        let text = ::metrics::with_local_recorder(&recorder, || {
            addon_called("shout", 0.2, None);
            addon_called("shout", 0.2, Some("Timeout"));
            transcribed(11.0, Duration::from_secs(1));
            render_from(&recorder.handle(), &backlog)
        });
        for line in [
            "tympan_jobs{state=\"queued\"} 3",
            "tympan_jobs{state=\"processing\"} 2",
            "tympan_live_sessions 1",
            "tympan_deliveries_owed 5",
            "tympan_addon_failures_total{addon=\"shout\",exception=\"Timeout\"} 1",
            "tympan_audio_duration_seconds_sum 11",
            "tympan_real_time_factor_bucket{le=\"0.1\"} 1",
            "tympan_real_time_factor_bucket{le=\"0.05\"} 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
        let memory = text.lines().find_map(|line| line.strip_prefix("process_resident_memory_bytes "));
        assert!(memory.and_then(|bytes| bytes.parse::<f64>().ok()).is_some_and(|bytes| bytes > 1e6));
    }
}
