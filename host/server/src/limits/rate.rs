//! How often a key may ask.
//!
//! Counts for keys that are accepted and for no others, so that strangers cannot fill the
//! memory by inventing keys.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};

use crate::model::plan::RequestRate;

/// Identity of a key: the SHA-256 of it.
type Digest = [u8; 32];

/// One counter for each key whose plan has a rate.
#[derive(Default)]
pub struct RequestRates {
    by_key: Mutex<HashMap<Digest, (RequestRate, Arc<DefaultDirectRateLimiter>)>>,
    clock: DefaultClock,
}

impl RequestRates {
    /// Counts a request of an accepted key.
    ///
    /// # Errors
    /// How long the key has to wait when it has asked too often.
    pub fn admit(&self, key: Digest, rate: RequestRate) -> Result<(), Duration> {
        let limiter = self.limiter(key, rate);
        limiter.check().map_err(|not_until| not_until.wait_time_from(self.clock.now()))
    }

    /// Forgets the keys that are not accepted any more.
    pub fn retain(&self, is_accepted: impl Fn(&Digest) -> bool) {
        self.by_key.lock().unwrap_or_else(PoisonError::into_inner).retain(|key, _| is_accepted(key));
    }

    /// A key whose rate has changed begins anew.
    fn limiter(&self, key: Digest, rate: RequestRate) -> Arc<DefaultDirectRateLimiter> {
        let mut by_key = self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = || (rate, Arc::new(RateLimiter::direct(quota(rate))));
        let entry = by_key.entry(key).or_insert_with(fresh);
        if entry.0 != rate {
            *entry = fresh();
        }
        entry.1.clone()
    }
}

fn quota(rate: RequestRate) -> Quota {
    let at_least_one = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
    Quota::per_second(at_least_one(rate.per_s)).allow_burst(at_least_one(rate.burst))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: RequestRate = RequestRate { per_s: 1, burst: 3 };

    #[test]
    fn a_key_may_ask_as_often_as_its_burst_and_then_has_to_wait() {
        let rates = RequestRates::default();
        for _ in 0..3 {
            assert_eq!(rates.admit([1; 32], SLOW), Ok(()));
        }
        let wait = rates.admit([1; 32], SLOW).unwrap_err();
        assert!(wait > Duration::ZERO && wait <= Duration::from_secs(1), "{wait:?}");
        assert_eq!(rates.admit([2; 32], SLOW), Ok(()), "another key has a count of its own");
    }

    #[test]
    fn a_new_rate_counts_anew_and_forgotten_keys_take_no_memory() {
        let rates = RequestRates::default();
        let one = RequestRate { per_s: 1, burst: 1 };
        assert_eq!(rates.admit([1; 32], one), Ok(()));
        assert!(rates.admit([1; 32], one).is_err());
        assert_eq!(rates.admit([1; 32], SLOW), Ok(()));
        rates.retain(|_| false);
        assert!(rates.by_key.lock().unwrap().is_empty());
    }
}
