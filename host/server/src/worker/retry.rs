//! Whether and when a failed job is tried again. Pure: time and chance are arguments.

use std::time::Duration;

use crate::model::code::Blame;
use crate::model::date::later;

/// Pause after the first failure; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
/// Longest pause: a job of two hours gets about thirty tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// Failures of ours that are retried.
const FAULTS_RETRIED: i64 = 1;
/// Part of the horizon that a job gets after its first claim, however long it had waited: ten
/// minutes of two hours.
const AFTER_CLAIM: u32 = 12;

/// What is known when a job has failed.
#[derive(Debug, Clone, Copy)]
pub struct Failed {
    /// Who can mend it.
    pub blame: Blame,
    /// Number of the claim that failed, from 1.
    pub attempt: i64,
    /// Failures of ours before this one.
    pub faults: i64,
    /// When the job was received, milliseconds since 1970.
    pub received_ms: i64,
    /// When it was claimed for the first time, milliseconds since 1970.
    pub first_claim_ms: i64,
    /// Now, milliseconds since 1970.
    pub now_ms: i64,
    /// What the other side asked for.
    pub retry_after: Option<Duration>,
}

/// When to try again, milliseconds since 1970; `None`: the failure is final. `horizon` is how
/// long after its receipt a job is tried again because of others; with none, no failure is.
/// `chance` is from 0.0 to 1.0 and spreads jobs that failed together.
pub fn next_try_ms(failed: &Failed, horizon: Duration, chance: f64) -> Option<i64> {
    if horizon.is_zero() {
        return None;
    }
    let pause = pause(failed.attempt, chance).max(failed.retry_after.unwrap_or_default());
    let due_ms = later(failed.now_ms, pause);
    let is_in_time = match failed.blame {
        Blame::Input => false,
        Blame::Us => failed.faults < FAULTS_RETRIED,
        Blame::Outside => {
            let late_ms = later(failed.first_claim_ms, horizon / AFTER_CLAIM);
            due_ms <= later(failed.received_ms, horizon).max(late_ms)
        }
    };
    is_in_time.then_some(due_ms)
}

/// Doubling, between half and all of the nominal pause.
fn pause(attempt: i64, chance: f64) -> Duration {
    let doublings = attempt.saturating_sub(1).clamp(0, 20) as u32;
    let nominal = FIRST_PAUSE.saturating_mul(1 << doublings).min(LONGEST_PAUSE);
    nominal.mul_f64(0.5 + chance.clamp(0.0, 1.0) / 2.0)
}

/// A random number from 0.0 to 1.0.
pub fn chance() -> f64 {
    let random = uuid::Uuid::new_v4().as_u128() as u32;
    f64::from(random) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HORIZON: Duration = Duration::from_secs(7_200);

    fn failed(blame: Blame, attempt: i64) -> Failed {
        let (received_ms, first_claim_ms, now_ms) = (1_000, 1_000, 5_000);
        Failed { blame, attempt, faults: 0, received_ms, first_claim_ms, now_ms, retry_after: None }
    }

    #[test]
    fn input_is_final_at_once_and_our_fault_at_the_second_time() {
        assert_eq!(next_try_ms(&failed(Blame::Input, 1), HORIZON, 0.5), None);
        assert!(next_try_ms(&failed(Blame::Us, 1), HORIZON, 0.5).is_some());
        let again = Failed { faults: 1, ..failed(Blame::Us, 2) };
        assert_eq!(next_try_ms(&again, HORIZON, 0.5), None);
    }

    #[test]
    fn pauses_double_up_to_five_minutes_and_are_spread() {
        let due = |attempt, chance| next_try_ms(&failed(Blame::Outside, attempt), HORIZON, chance);
        assert_eq!(due(1, 1.0), Some(5_000 + 2_000));
        assert_eq!(due(1, 0.0), Some(5_000 + 1_000));
        assert_eq!(due(2, 1.0), Some(5_000 + 4_000));
        assert_eq!(due(8, 1.0), Some(5_000 + 256_000));
        assert_eq!(due(9, 1.0), Some(5_000 + 300_000));
        assert_eq!(due(i64::MAX, 1.0), Some(5_000 + 300_000));
    }

    #[test]
    fn nobody_is_asked_sooner_than_they_said() {
        let asked = Failed { retry_after: Some(Duration::from_secs(60)), ..failed(Blame::Outside, 1) };
        assert_eq!(next_try_ms(&asked, HORIZON, 0.5), Some(65_000));
    }

    #[test]
    fn two_hours_after_receipt_a_failure_is_final() {
        let late = Failed { now_ms: 1_000 + 7_200_000 - 2_000, ..failed(Blame::Outside, 1) };
        assert_eq!(next_try_ms(&late, HORIZON, 1.0), Some(1_000 + 7_200_000));
        let too_late = Failed { now_ms: late.now_ms + 1, ..late };
        assert_eq!(next_try_ms(&too_late, HORIZON, 1.0), None);
    }

    #[test]
    fn a_job_that_waited_longer_than_the_horizon_is_tried_for_ten_minutes() {
        let first_claim_ms = 9_000_000;
        let late = Failed { first_claim_ms, now_ms: first_claim_ms, ..failed(Blame::Outside, 1) };
        assert_eq!(next_try_ms(&late, HORIZON, 1.0), Some(first_claim_ms + 2_000));
        let later = Failed { now_ms: first_claim_ms + 600_000 - 2_000, ..late };
        assert_eq!(next_try_ms(&later, HORIZON, 1.0), Some(first_claim_ms + 600_000));
        let too_late = Failed { now_ms: later.now_ms + 1, ..later };
        assert_eq!(next_try_ms(&too_late, HORIZON, 1.0), None);
    }

    #[test]
    fn a_fault_of_ours_has_its_second_try_at_any_time() {
        let fault = Failed { now_ms: 48 * 3_600_000, ..failed(Blame::Us, 1) };
        assert!(next_try_ms(&fault, HORIZON, 1.0).is_some());
    }

    #[test]
    fn without_a_horizon_every_failure_is_final() {
        for blame in [Blame::Input, Blame::Us, Blame::Outside] {
            assert_eq!(next_try_ms(&failed(blame, 1), Duration::ZERO, 0.5), None, "{blame:?}");
        }
    }
}
