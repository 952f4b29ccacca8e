//! The loop that claims jobs.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::attempt::attempt;
use super::blocking::on_disk;
use super::clock::Clock;
use super::instance::Instance;
use super::settings::Settings;
use super::slots::{Limits, Slots};
use super::steps::Steps;
use super::sweep;
use crate::blob::Blobs;
use crate::model::cause::chain;
use crate::store::{Claimed, ConcurrencyLimit, Store, StoreError};

/// Pause after the database refused a claim.
const CLAIM_FAILED_PAUSE: Duration = Duration::from_secs(2);
/// How long a job may take to stop when it is told to: a few steps of inference.
const RELEASE_LIMIT: Duration = Duration::from_secs(15);
/// Looks for dead processes per lease: they are found before their leases lapse, or nobody would
/// know any more what they computed.
const LOOKS_PER_LEASE: u32 = 3;

/// All that a worker works with.
pub struct Parts<S> {
    /// Jobs.
    pub store: Arc<Store>,
    /// Bytes.
    pub blobs: Blobs,
    /// What each step of the path does.
    pub steps: S,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// How many jobs of an account may be in work.
    pub limit_of: ConcurrencyLimit,
    /// What the operator decided.
    pub settings: Settings,
}

/// Works on jobs until it is told to stop.
pub struct Worker<S> {
    parts: Arc<Parts<S>>,
    instance: Arc<Instance>,
    slots: Slots,
    wake: Arc<Notify>,
}

/// Why the loop looked at the queue and took nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Idle {
    /// A further job would wait for a slot: there is no hurry.
    Full,
    /// Nothing is due.
    Empty,
    /// The database did not answer.
    Failed,
}

impl<S: Steps> Worker<S> {
    /// Announces this process in the data folder.
    pub fn new(parts: Parts<S>) -> io::Result<Self> {
        std::fs::create_dir_all(&parts.settings.scratch_dir)?;
        let instance = Arc::new(Instance::start(&parts.settings.instances_dir)?);
        let Settings { slots, fetches, fetches_per_account, .. } = parts.settings;
        let slots = Slots::new(Limits { slots, ahead: fetches, ahead_per_account: fetches_per_account });
        Ok(Self { parts: Arc::new(parts), instance, slots, wake: Arc::new(Notify::new()) })
    }

    /// `notify_one` makes the worker look at the queue at once.
    pub fn waker(&self) -> Arc<Notify> {
        self.wake.clone()
    }

    /// This process as the owner of claims.
    pub fn instance(&self) -> Arc<Instance> {
        self.instance.clone()
    }

    /// Works until `stop` fires, then lets running jobs finish within the grace time and
    /// releases the rest within [`RELEASE_LIMIT`].
    ///
    /// 1. Claim while there is room: fetching needs no slot.
    /// 2. Wait: for the end of a job, a wake-up, the pause, or the stop.
    /// 3. Again.
    /// 4. At the stop: give back what does not compute, wait, cancel, wait for the releases.
    pub async fn run(self, stop: CancellationToken) {
        let sweeping = tokio::spawn(sweep::run(self.parts.clone()));
        self.work(stop, sweeping).await;
    }

    /// The same, with somebody who sweeps; ends also when that one does, which is a defect.
    pub(super) async fn work(self, stop: CancellationToken, sweeping: JoinHandle<()>) {
        let mut sweeper = AbortOnDropHandle::new(sweeping);
        let cancel = CancellationToken::new();
        let mut jobs = Jobs::default();
        let limit_of = self.limit_of();
        let mut next_recovery_ms = i64::MIN;
        while !stop.is_cancelled() {
            if self.parts.clock.now_ms() >= next_recovery_ms {
                self.recover().await;
                let pause = self.parts.settings.lease_time / LOOKS_PER_LEASE;
                next_recovery_ms = self.parts.clock.now_ms() + pause.as_millis() as i64;
            }
            let idle = self.claim_all(&mut jobs, &cancel, &limit_of).await;
            let pause = match idle {
                Idle::Failed => CLAIM_FAILED_PAUSE,
                Idle::Full | Idle::Empty => self.parts.settings.poll_pause,
            };
            tokio::select! {
                () = jobs.one_ends() => {}
                () = self.wake.notified(), if idle != Idle::Full => {}
                () = tokio::time::sleep(pause) => {}
                () = stop.cancelled() => {}
                _ = &mut sweeper => {
                    tracing::error!("the sweep ended unexpectedly; the worker stops");
                    break;
                }
            }
        }
        drop(sweeper);
        self.slots.give_back_ahead();
        let grace = tokio::time::timeout(self.parts.settings.shutdown_grace, jobs.all_end());
        if grace.await.is_err() {
            cancel.cancel();
            if tokio::time::timeout(RELEASE_LIMIT, jobs.all_end()).await.is_err() {
                return tracing::error!("jobs did not stop when told to; the next process takes them over");
            }
        }
        self.instance.release();
    }

    /// Claims until there is no room or no work.
    async fn claim_all(
        &self,
        jobs: &mut Jobs,
        cancel: &CancellationToken,
        limit_of: &ConcurrencyLimit,
    ) -> Idle {
        loop {
            match self.claim(limit_of).await {
                Ok(Some(claimed)) => {
                    let (parts, cancel) = (self.parts.clone(), cancel.child_token());
                    let account = claimed.job.account_id.clone();
                    let place = self.slots.enter(account, claimed.crashes > 0, cancel.clone());
                    jobs.tasks.spawn(async move { attempt(&parts, claimed, place, cancel).await });
                }
                Ok(None) if self.slots.has_free_slot() => return Idle::Empty,
                Ok(None) => return Idle::Full,
                Err(error) => {
                    tracing::error!(error = chain(&error), "no job can be claimed");
                    return Idle::Failed;
                }
            }
        }
    }

    /// What the operator decided, and nothing while an account has no room in this process.
    fn limit_of(&self) -> ConcurrencyLimit {
        let (slots, limit_of) = (self.slots.clone(), self.parts.limit_of.clone());
        Arc::new(move |account| match slots.has_room_for(account) {
            true => limit_of(account),
            false => Some(0),
        })
    }

    async fn claim(&self, limit_of: &ConcurrencyLimit) -> Result<Option<Claimed>, StoreError> {
        let Parts { store, clock, settings, .. } = &*self.parts;
        let lease_ms = settings.lease_time.as_millis() as i64;
        store.claim(self.instance.name(), clock.now_ms(), lease_ms, limit_of).await
    }

    /// Ends the leases of processes that are no more.
    async fn recover(&self) {
        let here = self.instance.clone();
        let dead = match on_disk(move || here.dead()).await {
            Ok(dead) => dead,
            Err(error) => return tracing::warn!(error = chain(&error), "cannot look for dead processes"),
        };
        for name in dead {
            match self.parts.store.end_leases(&name, self.parts.clock.now_ms()).await {
                Ok(leases) => {
                    tracing::info!(leases, "took over from a process that is no more");
                    let here = self.instance.clone();
                    if let Err(error) = on_disk(move || here.forget(&name)).await {
                        tracing::warn!(error = chain(&error), "cannot forget a dead process");
                    }
                }
                Err(error) => tracing::warn!(error = chain(&error), "cannot take over from a dead process"),
            }
        }
    }
}

/// The jobs that run now.
#[derive(Default)]
struct Jobs {
    tasks: JoinSet<()>,
}

impl Jobs {
    /// Never returns while there are none.
    async fn one_ends(&mut self) {
        match self.tasks.join_next().await {
            Some(ended) => note(ended),
            None => std::future::pending().await,
        }
    }

    async fn all_end(&mut self) {
        while let Some(ended) = self.tasks.join_next().await {
            note(ended);
        }
    }
}

/// A panic outside the job's own work is a defect; the lease runs out and the job is taken up
/// again.
fn note(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        tracing::error!(panicked = error.is_panic(), "the task of a job ended unexpectedly");
    }
}
