//! One call of an add-on within a job: what the add-on is told, and what is counted of it.

use serde_json::Value;
use tracing::Instrument;
use tracing::field::Empty;
use tympan_runtime::{
    AddonOutput, AudioInfo, Call, CancellationToken, JobContext, PreviousOutput, ProgressFn, Transcript,
    exception,
};

use super::convert;
use super::step::Step;
use crate::metrics;
use crate::model::job::PlannedAddon;
use crate::model::result::AddonError;

/// The exception of an add-on whose component is gone.
pub const ADDON_REPLACED: &str = "AddonReplaced";

/// What the add-ons of a job are told.
pub struct JobFacts<'a> {
    /// Id of the job.
    pub job_id: String,
    /// When the job was accepted, Unix milliseconds.
    pub accepted_at_ms: u64,
    /// The recording as the add-ons see it: 16 kHz.
    pub audio: AudioInfo,
    /// What runs, in order, with the config of each.
    pub planned: &'a [PlannedAddon],
    /// Flags of the specification that nothing serves.
    pub missing: &'a [String],
    /// The client's metadata and languages: a JSON object.
    pub extra: Value,
}

/// What every call of a job shares.
pub struct Caller<'a> {
    /// What the add-ons are told.
    pub facts: &'a JobFacts<'a>,
    /// Ends the calls.
    pub cancel: &'a CancellationToken,
    /// Whether what an add-on wrote about a failure may be shown.
    pub shows_text: bool,
}

/// What is called for.
pub struct Task<'a> {
    /// The add-on.
    pub step: &'a Step<'a>,
    /// What it works on.
    pub input: &'a Transcript,
    /// Id of the variant that `input` is.
    pub variant: Option<&'a str>,
    /// What earlier add-ons returned.
    pub previous: Vec<PreviousOutput>,
    /// Who wants to know how far it is.
    pub on_progress: Option<ProgressFn>,
}

/// How a call went.
pub struct Called {
    /// Seconds, waiting left out.
    pub exec_time_s: f64,
    /// What came back.
    pub returned: Result<AddonOutput, AddonError>,
}

impl Caller<'_> {
    /// Calls an add-on, or says that its component is gone.
    pub async fn call(&self, task: Task<'_>) -> Called {
        let Task { step, input, variant, previous, on_progress } = task;
        let planned = step.planned;
        let Some(addon) = &step.addon else { return Called { exec_time_s: 0.0, returned: Err(replaced()) } };
        let context = JobContext {
            job_id: self.facts.job_id.clone(),
            mode: "pre-recorded".to_owned(),
            variant: variant.map(str::to_owned),
            config: planned.config.clone(),
            audio: self.facts.audio.clone(),
            previous,
            extra: self.facts.extra.to_string(),
        };
        let mut call = Call::new(context, input);
        call.accepted_at_unix_ms = self.facts.accepted_at_ms;
        call.cancel = self.cancel.clone();
        call.on_progress = on_progress;
        call.shows_text = self.shows_text;
        let span = tracing::info_span!(
            "add-on",
            otel.name = planned.name,
            otel.status_code = Empty,
            addon.digest = planned.digest,
            addon.variant = variant,
            addon.exception = Empty,
        );
        let report = addon.process(call).instrument(span.clone()).await;
        let exec_time_s = report.exec_time.as_secs_f64();
        let exception = report.outcome.as_ref().err().map(|error| exception::label(&error.exception));
        metrics::addon_called(&planned.name, exec_time_s, exception);
        if let Some(exception) = exception {
            span.record("addon.exception", exception).record("otel.status_code", "ERROR");
        }
        Called { exec_time_s, returned: report.outcome.map_err(convert::error) }
    }
}

fn replaced() -> AddonError {
    let message = "the add-on was replaced while the job waited, and its earlier file is gone".to_owned();
    AddonError { status_code: 503, exception: ADDON_REPLACED.to_owned(), message }
}
