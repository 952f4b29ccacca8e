//! Runs a job's add-ons over its transcript, in the order fixed when it was accepted.
//!
//! Add-ons that change the transcript run one after another; add-ons that only read it and
//! do not wait for each other run side by side. A failure becomes the wrapper's `error`,
//! with one exception: when an add-on that redacts fails, nothing is delivered.

use futures_util::future::join_all;
use serde_json::{Value, json};
use tracing::Instrument;
use tracing::field::Empty;
use tympan_runtime as runtime;
use tympan_runtime::{
    Addon, AudioInfo, Call, CancellationToken, JobContext, PreviousOutput, ResultParts, Slot, exception,
};

use super::assemble::{Assembled, assemble};
use super::convert;
use super::library::Library;
use super::masked::MaskedValues;
use super::outcome::{Outcome, Variant};
use crate::metrics;
use crate::model::job::PlannedAddon;
use crate::model::result::AddonError;
use crate::model::transcript::Transcript;

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

/// Why a job's add-ons gave nothing that may be delivered.
#[derive(Debug, thiserror::Error)]
pub enum EnrichError {
    /// An add-on that redacts did not do its work.
    #[error("the add-on {addon} could not redact the transcript ({exception}), so nothing is delivered")]
    Redaction {
        /// Its name.
        addon: String,
        /// What happened.
        exception: String,
    },
    /// The job was cancelled.
    #[error("the job was cancelled")]
    Cancelled,
}

/// Runs all add-ons of a job and places their outcomes.
pub async fn enrich(
    library: &Library,
    facts: &JobFacts<'_>,
    transcript: Transcript,
    cancel: &CancellationToken,
) -> Result<Assembled, EnrichError> {
    let mut work = Work::new(library, facts, transcript, cancel).await?;
    for batch in batches(&work.steps) {
        work.run_batch(batch).await?;
    }
    work.run_on_variants().await?;
    work.finish()
}

/// An add-on of the job, ready to run; `None` where its component is gone.
struct Step<'a> {
    planned: &'a PlannedAddon,
    addon: Option<Addon>,
}

impl Step<'_> {
    fn slot(&self) -> Slot {
        self.addon.as_ref().map_or(Slot::Transcript, |addon| addon.descriptor().slot)
    }

    fn waits_for(&self, name: &str) -> bool {
        self.addon.as_ref().is_some_and(|addon| {
            let descriptor = addon.descriptor();
            descriptor.after.iter().chain(&descriptor.requires).any(|other| other == name)
        })
    }
}

struct Work<'a> {
    facts: &'a JobFacts<'a>,
    cancel: &'a CancellationToken,
    steps: Vec<Step<'a>>,
    has_redaction: bool,
    redaction_is_done: bool,
    before_redaction: Transcript,
    transcript: Transcript,
    outcomes: Vec<Outcome>,
    /// Names of add-ons whose output nobody behind redaction may see.
    hidden: Vec<String>,
}

impl<'a> Work<'a> {
    async fn new(
        library: &Library,
        facts: &'a JobFacts<'a>,
        transcript: Transcript,
        cancel: &'a CancellationToken,
    ) -> Result<Self, EnrichError> {
        let mut steps = Vec::with_capacity(facts.planned.len());
        for planned in facts.planned {
            let addon = library.with_digest(&planned.name, &planned.digest).await;
            if addon.is_none() && planned.redacts {
                return Err(redaction_failed(&planned.name, "AddonReplaced"));
            }
            steps.push(Step { planned, addon });
        }
        Ok(Self {
            facts,
            cancel,
            has_redaction: facts.planned.iter().any(|planned| planned.redacts),
            redaction_is_done: false,
            steps,
            before_redaction: transcript.clone(),
            transcript,
            outcomes: Vec::new(),
            hidden: Vec::new(),
        })
    }

    /// Runs the steps of a batch side by side and takes in what they return.
    async fn run_batch(&mut self, batch: std::ops::Range<usize>) -> Result<(), EnrichError> {
        let redacts = self.steps[batch.clone()].iter().any(|step| step.planned.redacts);
        if redacts && !self.redaction_is_done {
            self.before_redaction = self.transcript.clone();
        }
        let input = convert::to_runtime(&self.transcript);
        let calls = self.steps[batch.clone()].iter().map(|step| self.call(step, &input, None));
        let reports = join_all(calls).await;
        for (at, (exec_time_s, outcome)) in batch.zip(reports) {
            self.take_in(at, &input, exec_time_s, outcome)?;
        }
        if redacts {
            self.redaction_is_done = true;
            self.hidden = self.outcomes.iter().map(|outcome| outcome.name.clone()).collect();
        }
        Ok(())
    }

    async fn call(
        &self,
        step: &Step<'_>,
        input: &runtime::Transcript,
        variant: Option<&str>,
    ) -> (f64, Result<runtime::AddonOutput, AddonError>) {
        let Some(addon) = &step.addon else {
            let message =
                "the add-on was replaced while the job waited, and its earlier file is gone".to_owned();
            return (
                0.0,
                Err(AddonError { status_code: 503, exception: "AddonReplaced".to_owned(), message }),
            );
        };
        let context = JobContext {
            job_id: self.facts.job_id.clone(),
            mode: "pre-recorded".to_owned(),
            variant: variant.map(str::to_owned),
            config: step.planned.config.clone(),
            audio: self.facts.audio.clone(),
            previous: self.previous(step),
            extra: self.facts.extra.to_string(),
        };
        let mut call = Call::new(context, input);
        call.accepted_at_unix_ms = self.facts.accepted_at_ms;
        call.cancel = self.cancel.clone();
        call.shows_text = !self.has_redaction;
        let span = tracing::info_span!(
            "add-on",
            otel.name = step.planned.name,
            otel.status_code = Empty,
            addon.digest = step.planned.digest,
            addon.variant = variant,
            addon.exception = Empty,
        );
        let report = addon.process(call).instrument(span.clone()).await;
        let exec_time_s = report.exec_time.as_secs_f64();
        let exception = report.outcome.as_ref().err().map(|error| exception_label(&error.exception));
        metrics::addon_called(&step.planned.name, exec_time_s, exception);
        if let Some(exception) = exception {
            span.record("addon.exception", exception).record("otel.status_code", "ERROR");
        }
        (exec_time_s, report.outcome.map_err(convert::error))
    }

    /// Outputs of the add-ons that this one waits for, without those that redaction hides.
    fn previous(&self, step: &Step<'_>) -> Vec<PreviousOutput> {
        let visible = self.outcomes.iter().filter(|outcome| !self.hidden.contains(&outcome.name));
        visible
            .filter(|outcome| step.waits_for(&outcome.name))
            .map(|outcome| PreviousOutput {
                name: outcome.name.clone(),
                status: status(outcome).to_owned(),
                result: (!outcome.wrapper.results.is_null()).then(|| outcome.wrapper.results.to_string()),
            })
            .collect()
    }

    fn take_in(
        &mut self,
        at: usize,
        input: &runtime::Transcript,
        exec_time_s: f64,
        returned: Result<runtime::AddonOutput, AddonError>,
    ) -> Result<(), EnrichError> {
        let step = &self.steps[at];
        let name = step.planned.name.clone();
        let checked = returned.and_then(|output| check_slot(step.slot(), output));
        let outcome = match checked {
            Ok(output) => {
                if let Some(changed) = &output.transcript {
                    let fallback = self.transcript.languages.first().map_or("en", String::as_str).to_owned();
                    self.transcript = convert::from_runtime(changed, input, &fallback);
                }
                success(step, exec_time_s, output, input)
            }
            Err(error) if error.exception == exception::CANCELLED => return Err(EnrichError::Cancelled),
            Err(error) if step.planned.redacts => return Err(redaction_failed(&name, &error.exception)),
            Err(error) => Outcome::failed(&name, exec_time_s, error),
        };
        self.outcomes.push(outcome);
        Ok(())
    }

    /// Runs the add-ons with the effect `per-variant` once on each further transcript.
    async fn run_on_variants(&mut self) -> Result<(), EnrichError> {
        for outcome_at in 0..self.outcomes.len() {
            let variants = std::mem::take(&mut self.outcomes[outcome_at].variants);
            let mut finished = Vec::with_capacity(variants.len());
            for mut variant in variants {
                if let Ok(transcript) = &variant.transcript {
                    variant.addons = self.run_on_variant(&variant.id, transcript).await?;
                }
                finished.push(variant);
            }
            self.outcomes[outcome_at].variants = finished;
        }
        Ok(())
    }

    async fn run_on_variant(&self, id: &str, transcript: &Transcript) -> Result<Vec<Outcome>, EnrichError> {
        let input = convert::to_runtime(transcript);
        let per_variant =
            |step: &&Step<'_>| step.addon.as_ref().is_some_and(|a| a.descriptor().runs_per_variant());
        let mut outcomes = Vec::new();
        for step in self.steps.iter().filter(per_variant) {
            let name = &step.planned.name;
            let (exec_time_s, returned) = self.call(step, &input, Some(id)).await;
            outcomes.push(match returned {
                Ok(output) => success(step, exec_time_s, output, &input),
                Err(error) if error.exception == exception::CANCELLED => return Err(EnrichError::Cancelled),
                Err(error) => Outcome::failed(name, exec_time_s, error),
            });
        }
        Ok(outcomes)
    }

    /// Places the outcomes and proves that no masked value stands in what is delivered.
    fn finish(self) -> Result<Assembled, EnrichError> {
        let masked = match self.has_redaction {
            true => MaskedValues::between(&self.before_redaction, &self.transcript),
            false => MaskedValues::default(),
        };
        let mut outcomes = self.outcomes;
        outcomes.extend(self.facts.missing.iter().map(|name| Outcome::not_installed(name)));
        let assembled = assemble(self.transcript, outcomes);
        let everything = json!({"transcription": assembled.transcription, "addons": assembled.addons});
        if masked.leak_in(&everything) {
            let redacting = self.facts.planned.iter().find(|planned| planned.redacts);
            return Err(redaction_failed(
                redacting.map_or("", |planned| &planned.name),
                "MaskedValueInResult",
            ));
        }
        Ok(assembled)
    }
}

/// A failure as a label of metrics. What an author invents is `Other`: no add-on can make
/// labels without end.
fn exception_label(name: &str) -> &'static str {
    let known = [
        exception::CANCELLED,
        exception::HANDLE_LIMIT,
        exception::INVALID_OUTPUT,
        exception::MEMORY_LIMIT,
        exception::OUTPUT_TOO_LARGE,
        exception::PANIC,
        exception::STACK_OVERFLOW,
        exception::TABLE_LIMIT,
        exception::TIMEOUT,
        exception::TRAP,
    ];
    known.into_iter().find(|known| *known == name).unwrap_or("Other")
}

/// Ranges of steps that may run side by side.
fn batches(steps: &[Step<'_>]) -> Vec<std::ops::Range<usize>> {
    let mut batches: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        match batches.last_mut() {
            Some(batch) if joins(&steps[batch.clone()], step) => batch.end = at + 1,
            _ => batches.push(at..at + 1),
        }
    }
    batches
}

fn joins(batch: &[Step<'_>], step: &Step<'_>) -> bool {
    let is_reader = step.slot() != Slot::Transcript;
    is_reader && batch.iter().all(|other| other.slot() == step.slot() && !step.waits_for(&other.planned.name))
}

/// Only add-ons of the slot `transcript` may change the transcript.
fn check_slot(slot: Slot, output: runtime::AddonOutput) -> Result<runtime::AddonOutput, AddonError> {
    if slot == Slot::Transcript || output.transcript.is_none() {
        return Ok(output);
    }
    let message = "only an add-on of the slot transcript may return a changed transcript".to_owned();
    Err(AddonError { status_code: 500, exception: exception::INVALID_OUTPUT.to_owned(), message })
}

fn success(
    step: &Step<'_>,
    exec_time_s: f64,
    output: runtime::AddonOutput,
    input: &runtime::Transcript,
) -> Outcome {
    let returned_one = output.result.is_some() || !output.variants.is_empty();
    let descriptor = step.addon.as_ref().map(Addon::descriptor).filter(|_| returned_one);
    let result = descriptor.map(|descriptor| ResultParts::of(&output, descriptor));
    let variants = output.variants.into_iter().map(|variant| Variant {
        transcript: match variant.outcome {
            Ok(transcript) => Ok(convert::from_runtime(&transcript, input, &variant.language)),
            Err(error) => Err(convert::error(error)),
        },
        id: variant.id,
        language: variant.language,
        addons: Vec::new(),
    });
    Outcome::succeeded(&step.planned.name, exec_time_s, result, variants.collect())
}

fn status(outcome: &Outcome) -> &'static str {
    match (outcome.is_success(), outcome.wrapper.is_empty) {
        (false, _) => "failed",
        (true, true) => "empty",
        (true, false) => "done",
    }
}

fn redaction_failed(addon: &str, exception: &str) -> EnrichError {
    EnrichError::Redaction { addon: addon.to_owned(), exception: exception.to_owned() }
}
