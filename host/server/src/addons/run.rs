//! Runs a job's add-ons over its transcript, in the order fixed when it was accepted.
//!
//! Add-ons that change the transcript run one after another; add-ons that only read it and
//! do not wait for each other run side by side. A failure becomes the wrapper's `error`,
//! with one exception: when an add-on that redacts fails, nothing is delivered.

use std::ops::Range;

use futures_util::future::join_all;
use tympan_runtime as runtime;
use tympan_runtime::{CancellationToken, PreviousOutput, ProgressFn, exception};

use super::assemble::{Assembled, assemble};
use super::call::{ADDON_REPLACED, Called, Caller, JobFacts, Task};
use super::convert;
use super::library::Library;
use super::outcome::Outcome;
use super::progress::JobProgress;
use super::redaction::Redaction;
use super::step::{Step, batches};
use crate::model::transcript::Transcript;

/// Why a job's add-ons gave nothing that may be delivered.
#[derive(Debug, thiserror::Error)]
pub enum EnrichError {
    /// An add-on that redacts did not do its work.
    #[error("the add-on {addon} could not redact the transcript ({exception}), so nothing is delivered")]
    Redaction {
        /// Its name.
        addon: String,
        /// What happened, in a word of the host: the add-on's own may hold what was said.
        exception: &'static str,
    },
    /// The job was cancelled.
    #[error("the job was cancelled")]
    Cancelled,
}

/// Runs all add-ons of a job and places their outcomes. `on_progress` gets 0.0 to 1.0 for all
/// of them together.
pub async fn enrich(
    library: &Library,
    facts: &JobFacts<'_>,
    transcript: Transcript,
    cancel: &CancellationToken,
    on_progress: ProgressFn,
) -> Result<Assembled, EnrichError> {
    let mut steps = Vec::with_capacity(facts.planned.len());
    for planned in facts.planned {
        let step = Step::prepare(library, planned).await;
        if step.addon.is_none() && planned.redacts {
            return Err(EnrichError::Redaction { addon: planned.name.clone(), exception: ADDON_REPLACED });
        }
        steps.push(step);
    }
    let redaction = Redaction::of(facts.planned);
    let caller = Caller { facts, cancel, shows_text: !redaction.is_planned() };
    let progress = JobProgress::new(steps.len(), on_progress);
    let mut work = Work { caller, steps, progress, redaction, transcript, outcomes: Vec::new() };
    for batch in batches(&work.steps) {
        work.run_batch(batch).await?;
    }
    work.run_on_variants().await?;
    work.finish().await
}

struct Work<'a> {
    caller: Caller<'a>,
    steps: Vec<Step<'a>>,
    progress: JobProgress,
    redaction: Redaction,
    transcript: Transcript,
    outcomes: Vec<Outcome>,
}

impl Work<'_> {
    /// Runs the steps of a batch side by side and takes in what they return.
    async fn run_batch(&mut self, batch: Range<usize>) -> Result<(), EnrichError> {
        let redacts = self.steps[batch.clone()].iter().any(|step| step.planned.redacts);
        if redacts {
            self.redaction.begins(&self.transcript);
        }
        let input = convert::to_runtime(&self.transcript);
        let calls = batch
            .clone()
            .map(|at| self.call(&self.steps[at], &input, None, Some(self.progress.of_addon(at))));
        let reports = join_all(calls).await;
        for (at, called) in batch.zip(reports) {
            let outcome = take_in(&self.steps[at], called, &input, None, &mut self.transcript)?;
            self.outcomes.push(outcome);
            self.progress.ended(at);
        }
        if redacts {
            self.redaction.ended(&self.transcript, &self.outcomes);
        }
        Ok(())
    }

    async fn call(
        &self,
        step: &Step<'_>,
        input: &runtime::Transcript,
        variant: Option<&str>,
        on_progress: Option<ProgressFn>,
    ) -> Called {
        let previous = self.previous(step);
        self.caller.call(Task { step, input, variant, previous, on_progress }).await
    }

    /// Outputs of the add-ons that this one waits for, without those that redaction hides.
    fn previous(&self, step: &Step<'_>) -> Vec<PreviousOutput> {
        let seen = |name: &str| step.waits_for(name) && !self.redaction.hides(name);
        self.outcomes.iter().filter(|outcome| seen(&outcome.name)).map(Outcome::as_previous).collect()
    }

    /// Runs the add-ons with the effect `per-variant` once on each further transcript.
    async fn run_on_variants(&mut self) -> Result<(), EnrichError> {
        for outcome_at in 0..self.outcomes.len() {
            let variants = std::mem::take(&mut self.outcomes[outcome_at].variants);
            let mut finished = Vec::with_capacity(variants.len());
            for mut variant in variants {
                if let Ok(transcript) = &mut variant.transcript {
                    variant.addons = self.run_on_variant(&variant.id, transcript).await?;
                }
                finished.push(variant);
            }
            self.outcomes[outcome_at].variants = finished;
        }
        Ok(())
    }

    async fn run_on_variant(
        &self,
        id: &str,
        transcript: &mut Transcript,
    ) -> Result<Vec<Outcome>, EnrichError> {
        let mut outcomes = Vec::new();
        for step in self.steps.iter().filter(|step| step.runs_per_variant()) {
            let input = convert::to_runtime(transcript);
            let called = self.call(step, &input, Some(id), None).await;
            outcomes.push(take_in(step, called, &input, Some(id), transcript)?);
        }
        Ok(outcomes)
    }

    /// Places the outcomes, and proves that no masked value stands in what is delivered.
    async fn finish(self) -> Result<Assembled, EnrichError> {
        let mut outcomes = self.outcomes;
        outcomes.extend(self.caller.facts.missing.iter().map(|name| Outcome::not_installed(name)));
        let assembled = assemble(self.transcript, outcomes);
        self.redaction.prove(assembled, self.caller.cancel).await
    }
}

/// What became of a call on `transcript`, in the form of `input`; the add-on may have changed it.
fn take_in(
    step: &Step<'_>,
    called: Called,
    input: &runtime::Transcript,
    variant: Option<&str>,
    transcript: &mut Transcript,
) -> Result<Outcome, EnrichError> {
    let Called { exec_time_s, returned } = called;
    let planned = step.planned;
    match returned.and_then(|output| step.check_output(output, variant)) {
        Ok(output) => {
            if let Some(changed) = &output.transcript {
                let fallback = transcript.languages.first().map_or("en", String::as_str).to_owned();
                *transcript = convert::from_runtime(changed, input, &fallback);
            }
            Ok(Outcome::returned(&planned.name, exec_time_s, output, step.addon.as_ref(), input))
        }
        Err(error) if error.exception == exception::CANCELLED => Err(EnrichError::Cancelled),
        Err(error) if planned.redacts => {
            let exception = exception::label(&error.exception);
            Err(EnrichError::Redaction { addon: planned.name.clone(), exception })
        }
        Err(error) => Ok(Outcome::failed(&planned.name, exec_time_s, error)),
    }
}
