//! An add-on of a job, ready to run, and which of them may run side by side.

use std::ops::Range;

use tympan_runtime::{Addon, AddonOutput, Slot, exception};

use super::library::Library;
use crate::model::job::PlannedAddon;
use crate::model::result::AddonError;

/// An add-on of the job.
pub struct Step<'a> {
    /// What was planned when the job was accepted.
    pub planned: &'a PlannedAddon,
    /// `None` where its component is gone.
    pub addon: Option<Addon>,
}

impl<'a> Step<'a> {
    /// Looks for the component that the job was promised.
    pub async fn prepare(library: &Library, planned: &'a PlannedAddon) -> Self {
        let addon = library.with_digest(&planned.name, &planned.digest).await;
        Self { planned, addon }
    }

    /// Whether it names that add-on as one that runs earlier, and so sees its output.
    pub fn waits_for(&self, name: &str) -> bool {
        self.addon.as_ref().is_some_and(|addon| {
            let descriptor = addon.descriptor();
            descriptor.after.iter().chain(&descriptor.requires).any(|other| other == name)
        })
    }

    /// Whether it also runs on each further transcript.
    pub fn runs_per_variant(&self) -> bool {
        self.addon.as_ref().is_some_and(|addon| addon.descriptor().runs_per_variant())
    }

    /// Only add-ons of the slot `transcript` may change the transcript, and none makes further
    /// transcripts of a further transcript (`variant`).
    pub fn check_output(
        &self,
        output: AddonOutput,
        variant: Option<&str>,
    ) -> Result<AddonOutput, AddonError> {
        let fault = if self.slot() != Slot::Transcript && output.transcript.is_some() {
            "only an add-on of the slot transcript may return a changed transcript"
        } else if variant.is_some() && !output.variants.is_empty() {
            "an add-on that runs on a variant may not return variants of it"
        } else {
            return Ok(output);
        };
        let exception = exception::INVALID_OUTPUT.to_owned();
        Err(AddonError { status_code: 500, exception, message: fault.to_owned() })
    }

    fn slot(&self) -> Slot {
        self.addon.as_ref().map_or(Slot::Transcript, |addon| addon.descriptor().slot)
    }
}

/// Ranges of steps that may run side by side: add-ons of one slot that only read the
/// transcript and do not wait for each other.
pub fn batches(steps: &[Step<'_>]) -> Vec<Range<usize>> {
    let mut batches: Vec<Range<usize>> = Vec::new();
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
