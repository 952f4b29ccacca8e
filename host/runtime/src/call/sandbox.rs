//! A store with every limit set, and the race of a call against its deadline.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use wasmtime::{Engine, Store};

use super::state::State;
use crate::defaults::Limits;

/// Why a call was ended from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    Timeout,
    Cancelled,
}

/// An unused store. Code in it gives way to other tasks on every tick, which is when
/// [`race`] looks at the clock.
pub fn store(engine: &Engine, state: State, limits: &Limits) -> Store<State> {
    let mut store = Store::new(engine, state);
    store.limiter(|state| &mut state.limiter);
    store.set_hostcall_fuel(limits.output_bytes);
    store.set_max_component_handles(limits.handles);
    store.set_epoch_deadline(1);
    store.epoch_deadline_async_yield_and_update(1);
    store
}

/// Waits for `work`, at most for `limit` of wall-clock time, however it is spent. Work
/// that is not finished is dropped, which ends the instance.
pub async fn race<T>(
    limit: Duration,
    cancel: &CancellationToken,
    work: impl Future<Output = T>,
) -> Result<T, Stopped> {
    tokio::select! {
        biased;
        () = tokio::time::sleep(limit) => Err(Stopped::Timeout),
        () = cancel.cancelled() => Err(Stopped::Cancelled),
        done = work => Ok(done),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_waits_is_stopped() {
        let cancel = CancellationToken::new();
        let late = race(Duration::from_millis(1), &cancel, std::future::pending::<()>()).await;
        assert_eq!(late, Err(Stopped::Timeout));
        assert_eq!(race(Duration::from_secs(9), &cancel, async { 1 }).await, Ok(1));
        cancel.cancel();
        assert_eq!(race(Duration::from_secs(9), &cancel, async { 1 }).await, Err(Stopped::Cancelled));
    }
}
