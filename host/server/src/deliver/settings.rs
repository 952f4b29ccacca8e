//! What an operator decides about deliveries.

use std::time::Duration;

use crate::model::secret::Secret;
use crate::net_guard::Authorities;

/// Settings of a sender.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Lets messages reach private and loopback addresses.
    pub allow_private: bool,
    /// Who may vouch for receivers beside the authorities of the system.
    pub authorities: Authorities,
    /// Signs callbacks.
    pub callback_secret: Option<Secret>,
    /// Longest time until the receiver has answered; a body adds to it, see
    /// [`Settings::time_for`].
    pub timeout: Duration,
    /// Pauses after the first, second, … failed attempt; after the last comes no other.
    pub pauses: Vec<Duration>,
    /// Messages on their way at a time.
    pub in_flight: u32,
    /// Of those, messages of one account.
    pub in_flight_per_account: u32,
    /// Of those, messages to one receiver.
    pub in_flight_per_receiver: u32,
}

/// A receiver that takes a body more slowly than this is not waited for, bytes a second.
const SLOWEST_RATE: u64 = 1_000_000;

/// Longest additional time for a body.
const BODY_TIME_LIMIT: Duration = Duration::from_secs(120);

impl Settings {
    /// Longest time for sending a body of this size and receiving the answer.
    pub fn time_for(&self, body_bytes: u64) -> Duration {
        self.timeout + Duration::from_secs(body_bytes / SLOWEST_RATE).min(BODY_TIME_LIMIT)
    }

    /// How long a claim holds: longer than any attempt takes.
    pub(super) fn lease(&self) -> Duration {
        self.timeout + BODY_TIME_LIMIT + Duration::from_secs(20)
    }

    /// The pause after the attempt with this number, from 1; `None` when it was the last.
    pub(super) fn pause_after(&self, attempt: i64) -> Option<Duration> {
        let failed = usize::try_from(attempt.max(1) - 1).unwrap_or(usize::MAX);
        self.pauses.get(failed).copied()
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            allow_private: false,
            authorities: Authorities::default(),
            callback_secret: None,
            timeout: Duration::from_secs(10),
            pauses: [1, 5, 30, 120, 600].map(Duration::from_secs).to_vec(),
            in_flight: 64,
            in_flight_per_account: 16,
            in_flight_per_receiver: 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_pauses_follow_the_first_five_attempts() {
        let settings = Settings::default();
        let pauses: Vec<_> = (1..=7).map(|n| settings.pause_after(n).map(|pause| pause.as_secs())).collect();
        assert_eq!(pauses, [Some(1), Some(5), Some(30), Some(120), Some(600), None, None]);
    }

    #[test]
    fn long_bodies_get_more_time_and_no_attempt_outlasts_its_claim() {
        let settings = Settings::default();
        assert_eq!(settings.time_for(0).as_secs(), 10);
        assert_eq!(settings.time_for(30_000_000).as_secs(), 40);
        assert!(settings.time_for(u64::MAX) < settings.lease());
    }
}
