//! Keeps the lease of a running job, and shows its progress.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::clock::Clock;
use super::progress::Progress;
use crate::model::cause::chain;
use crate::store::{Lease, Store};

/// Signs of life per lease: one that is late or fails does no harm.
const BEATS_PER_LEASE: u32 = 10;
/// Clients poll about once a second; progress need not be fresher.
const FASTEST_BEAT: Duration = Duration::from_secs(1);

/// What a heartbeat needs.
pub struct Heartbeat {
    /// Where it is written.
    pub store: Arc<Store>,
    /// What is kept.
    pub lease: Lease,
    /// What is shown.
    pub progress: Arc<Progress>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// For how long each beat prolongs the lease.
    pub lease_time: Duration,
}

impl Heartbeat {
    /// Beats until it is dropped or the lease is lost; then cancels the work. While the
    /// database does not answer, the work goes on until the lease has run out.
    pub async fn keep(self, cancel: CancellationToken) {
        let lease_ms = self.lease_time.as_millis() as i64;
        let mut until_ms = self.clock.now_ms() + lease_ms;
        loop {
            tokio::time::sleep((self.lease_time / BEATS_PER_LEASE).max(FASTEST_BEAT)).await;
            let next_ms = self.clock.now_ms() + lease_ms;
            let progress = self.progress.to_metadata();
            match self.store.heartbeat(&self.lease, next_ms, progress).await {
                Ok(true) => until_ms = next_ms,
                Ok(false) => {
                    tracing::warn!(job = %self.lease.job_id, "lease lost");
                    return cancel.cancel();
                }
                Err(error) => {
                    tracing::warn!(job = %self.lease.job_id, error = chain(&error), "heartbeat failed");
                    if self.clock.now_ms() >= until_ms {
                        return cancel.cancel();
                    }
                }
            }
        }
    }
}
