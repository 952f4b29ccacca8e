//! The time of day, as an argument.

#[cfg(test)]
use std::sync::atomic::{AtomicI64, Ordering};

use crate::model::date;

/// Says what time it is.
pub trait Clock: Send + Sync + 'static {
    /// Milliseconds since 1970, UTC.
    fn now_ms(&self) -> i64;
}

/// The machine's clock.
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        date::now_ms()
    }
}

/// A clock that stands still until it is set.
#[cfg(test)]
pub struct ManualClock(AtomicI64);

#[cfg(test)]
impl ManualClock {
    /// Starts at `now_ms`.
    pub fn new(now_ms: i64) -> Self {
        Self(AtomicI64::new(now_ms))
    }

    /// Moves the time forward.
    pub fn advance(&self, by_ms: i64) {
        self.0.fetch_add(by_ms, Ordering::SeqCst);
    }
}

#[cfg(test)]
impl Clock for ManualClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}
