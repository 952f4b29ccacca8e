//! One call of an add-on: a store of its own, limits, deadline, checked output. Whatever
//! the component does ends here as data.

pub mod failure;
pub mod json;
pub mod limiter;
pub mod log;
pub mod output;
pub mod report;
mod sandbox;
pub mod state;

use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use wasmtime::{Engine, Store};

use crate::contract::v0_1::Linked;
use crate::data::descriptor::{ConfigProblem, RawDescriptor};
use crate::data::job::{AddonError, AddonOutput};
use crate::defaults::{DESCRIBE_TIMEOUT, Limits, MANIFEST_BYTES, VALIDATE_TIMEOUT};
use output::Expectation;
use report::{Call, CallReport};
use sandbox::Stopped;
use state::{State, Surroundings};

/// What every call of one component shares.
pub struct Program<'a> {
    /// Runs it.
    pub engine: &'a Engine,
    /// The component.
    pub linked: &'a Linked,
    /// SHA-256 of the component.
    pub digest: &'a str,
    /// What one call may use up.
    pub limits: &'a Limits,
    /// Whether written text is kept.
    pub keeps_text: bool,
}

impl Program<'_> {
    /// Asks the component who it is. Compares its types with the contract's on the way.
    pub async fn describe(&self) -> Result<RawDescriptor, DescribeError> {
        let limits = self.manifest_limits();
        let mut store = self.store(Surroundings::default(), &limits);
        let work = async {
            let instance = self.linked.instantiate(&mut store).await.map_err(DescribeError::Start)?;
            instance.describe(&mut store).await.map_err(DescribeError::Trap)
        };
        let ended = sandbox::race(DESCRIBE_TIMEOUT, &Default::default(), work).await;
        match ended.unwrap_or(Err(DescribeError::Timeout)) {
            Err(DescribeError::Trap(error)) => {
                Err(DescribeError::Failed(failure::trap(&error, store.data(), &limits, true)))
            }
            answer => answer,
        }
    }

    /// Asks the component about a config, JSON text.
    pub async fn validate_config(
        &self,
        config: &str,
    ) -> Result<Result<String, Vec<ConfigProblem>>, AddonError> {
        let limits = self.manifest_limits();
        let mut store = self.store(Surroundings::default(), &limits);
        let work = async {
            let instance = self.linked.instantiate(&mut store).await?;
            instance.validate_config(&mut store, config).await
        };
        let ended = sandbox::race(limits.timeout, &Default::default(), work).await;
        settle(ended, &store, &limits, true)
    }

    /// Makes an instance and drops it.
    pub async fn start(&self) -> Result<(), AddonError> {
        let mut store = self.store(Surroundings::default(), self.limits);
        let work = self.linked.instantiate(&mut store);
        let ended = sandbox::race(self.limits.timeout, &Default::default(), work).await;
        settle(ended, &store, self.limits, false).map(drop)
    }

    /// Runs the component on a transcript as soon as one of the `free` places is free.
    pub async fn process(&self, call: Call<'_>, free: &Semaphore) -> CallReport {
        let Call { context, input, accepted_at_unix_ms, cancel, on_progress, shows_text } = call;
        let job_id = context.job_id.clone();
        let surroundings = Surroundings { job_id, accepted_at_unix_ms, cancel: cancel.clone(), on_progress };
        let mut store = self.store(surroundings, self.limits);
        let _place = tokio::select! {
            place = free.acquire() => place.expect("the semaphore is never closed"),
            () = cancel.cancelled() => return report(store, Duration::ZERO, Err(failure::cancelled()), shows_text),
        };
        let started = Instant::now();
        let audio = context.audio.clone();
        let work = async {
            let instance = self.linked.instantiate(&mut store).await?;
            instance.process(&mut store, context, input).await
        };
        let ended = sandbox::race(self.limits.timeout, &cancel, work).await;
        let settled = settle(ended, &store, self.limits, shows_text);
        let outcome = match settled {
            Ok(Ok(output)) => {
                output::check(output, &Expectation { input, audio: &audio, limits: self.limits, shows_text })
            }
            Ok(Err(error)) => Err(failure::returned(error, shows_text)),
            Err(error) => Err(error),
        };
        report(store, started.elapsed(), outcome, shows_text)
    }

    /// For functions that must be pure and quick.
    fn manifest_limits(&self) -> Limits {
        Limits {
            timeout: self.limits.timeout.min(VALIDATE_TIMEOUT),
            output_bytes: MANIFEST_BYTES,
            ..self.limits.clone()
        }
    }

    fn store(&self, surroundings: Surroundings, limits: &Limits) -> Store<State> {
        let state = State::new(surroundings, self.digest, limits, self.keeps_text);
        sandbox::store(self.engine, state, limits)
    }
}

fn settle<T>(
    ended: Result<wasmtime::Result<T>, Stopped>,
    store: &Store<State>,
    limits: &Limits,
    shows_text: bool,
) -> Result<T, AddonError> {
    match ended {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(failure::trap(&error, store.data(), limits, shows_text)),
        Err(Stopped::Timeout) => Err(failure::timeout(limits.timeout)),
        Err(Stopped::Cancelled) => Err(failure::cancelled()),
    }
}

/// Why a component did not say who it is.
#[derive(Debug)]
pub enum DescribeError {
    /// It cannot be started: its types differ from the contract, or it is too large.
    Start(wasmtime::Error),
    /// It trapped; becomes [`DescribeError::Failed`] once the trap is understood.
    Trap(wasmtime::Error),
    /// It failed.
    Failed(AddonError),
    /// It took too long.
    Timeout,
}

fn report(
    store: Store<State>,
    exec_time: Duration,
    outcome: Result<AddonOutput, AddonError>,
    shows_text: bool,
) -> CallReport {
    let state = store.into_data();
    let written = state.log.finish();
    CallReport {
        outcome,
        exec_time,
        peak_memory_bytes: state.limiter.memory_bytes(),
        log_lines: written.lines,
        log_bytes: written.bytes,
        dropped_bytes: written.dropped_bytes,
        log_text: written.kept,
        panic_location: state.panic.and_then(|panic| panic.location).filter(|_| shows_text),
    }
}
