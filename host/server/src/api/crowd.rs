//! The places for connections. Where all are taken, whoever comes gets that of the connection on
//! which nothing has happened for longest: it costs a stranger nothing to keep one open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::exchange::Exchange;

/// Between two looks for a connection that may go, while all are busy.
const PAUSE: Duration = Duration::from_millis(50);

/// All open connections.
#[derive(Clone)]
pub(super) struct Crowd {
    places: Arc<Semaphore>,
    guests: Arc<Mutex<HashMap<u64, Guest>>>,
}

/// An open connection.
#[derive(Clone)]
pub(super) struct Guest {
    exchange: Exchange,
    leave: CancellationToken,
}

impl Guest {
    pub fn new(exchange: Exchange) -> Self {
        Self { exchange, leave: CancellationToken::new() }
    }

    /// Returns when its place is needed; not once a request has come in meanwhile.
    pub async fn is_dismissed(&self) {
        self.leave.cancelled().await;
        if !self.exchange.is_quiet() {
            std::future::pending::<()>().await;
        }
    }
}

/// A place; dropped, it is free again.
pub(super) struct Place {
    crowd: Crowd,
    id: u64,
    _permit: OwnedSemaphorePermit,
}

impl Crowd {
    pub fn new(places: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(places)), guests: Arc::default() }
    }

    /// A place for the connection `id`, as soon as one is free or made free.
    pub async fn enter(&self, id: u64, guest: Guest) -> Place {
        let mut patience = Duration::ZERO;
        loop {
            let free = self.places.clone().acquire_owned();
            if let Ok(Ok(permit)) = tokio::time::timeout(patience, free).await {
                self.guests().insert(id, guest);
                return Place { crowd: self.clone(), id, _permit: permit };
            }
            self.dismiss_one();
            patience = PAUSE;
        }
    }

    fn dismiss_one(&self) {
        let guests = self.guests();
        let may_go = guests.values().filter(|guest| guest.exchange.is_quiet() && !guest.leave.is_cancelled());
        if let Some(guest) = may_go.min_by_key(|guest| guest.exchange.quiet_since()) {
            guest.leave.cancel();
        }
    }

    fn guests(&self) -> MutexGuard<'_, HashMap<u64, Guest>> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.crowd.guests().remove(&self.id);
    }
}
