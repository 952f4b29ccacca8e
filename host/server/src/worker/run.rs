//! The path of a job.

use std::future::Future;
use std::sync::Mutex;
use std::time::Instant;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::assemble::{Finished, assemble};
use super::checkpoint::{Checkpoints, Identity};
use super::failure::{Failure, Stop};
use super::progress::{Progress, Step};
use super::scratch::Scratch;
use super::slots::Place;
use super::steps::Steps;
use crate::metrics;
use crate::model::code::Code;
use crate::store::{FileFacts, Job, Lease, Store};

/// Takes a job from its audio to its result. Every step is a checkpoint: after a crash the
/// steps that were finished are read back, and `transcribe` goes on after its last segment. All
/// but the fetch computes and needs a slot.
pub async fn run_job<S: Steps>(steps: &S, run: &Run) -> Result<Finished, Stop> {
    let media = run.step(steps, Step::Fetch, steps.fetch(run)).await?;
    run.take_slot().await?;
    let audio = run.step(steps, Step::Decode, steps.decode(run, &media)).await?;
    let segments = run.step(steps, Step::Segment, steps.segment(run, &audio)).await?;
    let heard = run.step(steps, Step::Transcribe, steps.transcribe(run, &audio, &segments)).await?;
    let enriched = run.step(steps, Step::AddOns, steps.enrich(run, &audio, &heard)).await?;
    tracing::info_span!("assemble").in_scope(|| assemble(&audio, &heard, enriched))
}

/// One claim of one job, on its way.
pub struct Run {
    /// What is to be done.
    pub job: Job,
    /// The right to write about it.
    pub lease: Lease,
    /// Fires when the lease is lost or the service stops.
    pub cancel: CancellationToken,
    /// For those who poll.
    pub progress: std::sync::Arc<Progress>,
    /// Earlier and new values of steps.
    pub checkpoints: std::sync::Arc<Checkpoints>,
    /// A folder for decoded audio.
    pub scratch: Scratch,
    /// Where the facts about the file go.
    pub store: std::sync::Arc<Store>,
    /// What has made the present value.
    pub trail: Mutex<Identity>,
    /// Its place among the jobs of this process.
    pub place: std::sync::Arc<Place>,
}

impl Run {
    /// Reads the value of a step back, or makes and saves it. `making` does nothing until
    /// it is needed.
    async fn step<S: Steps, T: Serialize + DeserializeOwned>(
        &self,
        steps: &S,
        step: Step,
        making: impl Future<Output = Result<T, Stop>> + Send,
    ) -> Result<T, Stop> {
        if self.cancel.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        self.progress.begin(step);
        let settings = steps.settings(self, step).await?;
        let identity = self.trail().then(step.name(), settings.as_bytes());
        self.set_trail(identity.clone());
        let saved = self.checkpoints.load(step.name(), &identity).await;
        let saved = saved.filter(|bytes| steps.still_holds(self, step, bytes));
        // A checkpoint that does not parse is as good as none.
        if let Some(bytes) = saved
            && let Ok(value) = from_json(&bytes)
        {
            self.set_trail(identity.then("value", &bytes));
            return Ok(value);
        }
        self.progress.make();
        let began = Instant::now();
        let span = tracing::info_span!("step", otel.name = step.name());
        let bytes = to_json(&making.instrument(span).await?);
        self.checkpoints.save(step.name(), &identity, bytes.clone()).await?;
        let took = began.elapsed();
        metrics::step_finished(step.name(), took);
        let took_ms = took.as_millis() as u64;
        tracing::info!(job = %self.job.id, step = step.name(), took_ms, "step finished");
        self.set_trail(identity.then("value", &bytes));
        // Read back although it was just made, so that a resumed job sees the same value.
        from_json(&bytes)
    }

    /// Waits for a slot. What ends the process from now on could be this job.
    async fn take_slot(&self) -> Result<(), Stop> {
        tokio::select! {
            () = self.place.take_slot() => {}
            () = self.cancel.cancelled() => return Err(Stop::Cancelled),
        }
        if !self.store.enter_slot(&self.lease).await? {
            return Err(Stop::Cancelled);
        }
        tracing::info!(job = %self.job.id, "slot taken");
        Ok(())
    }

    /// Notes what a step has learned about the file.
    pub async fn note_file(&self, facts: FileFacts) -> Result<(), Stop> {
        match self.store.save_file_facts(&self.lease, facts).await? {
            true => Ok(()),
            false => Err(Stop::Cancelled),
        }
    }

    /// Identity of the present step, for checkpoints inside it.
    pub fn trail(&self) -> Identity {
        self.trail.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    fn set_trail(&self, identity: Identity) {
        *self.trail.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = identity;
    }
}

pub(super) fn to_json<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("values of steps have string keys")
}

pub(super) fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Stop> {
    serde_json::from_slice(bytes).map_err(|error| Failure::new(Code::Internal, &error).into())
}
