//! Whose job is next. Decides over what it is shown and reads nothing itself.
//!
//! Accounts share the workers: whoever has the fewest jobs in work is next, among equals
//! the one that was last given a job the longest time ago. So an account that waits with
//! nothing in work is passed at most once by each other.

use crate::model::id::AccountId;

/// How long others go ahead of a suspect that must run alone. After that no further job is
/// given out until the running ones have ended, or the suspect would wait for ever.
const PATIENCE_MS: i64 = 60_000;

/// An account with a job that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Waiting {
    /// The account.
    pub account_id: AccountId,
    /// Its jobs in work.
    pub running: u32,
    /// How many it may have in work; absent: any number.
    pub limit: Option<u32>,
    /// When it was last given a job.
    pub last_claim_ms: i64,
    /// Its oldest due job has ended a process before, or seems to have.
    pub is_suspect: bool,
    /// How long that job has been due.
    pub waited_ms: i64,
}

/// What happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// The oldest due job of the account in this place of the list.
    Of(usize),
    /// Nothing, until the worker has no other job.
    WaitUntilAlone,
    /// Nobody may have one.
    Nobody,
}

/// The next account; `is_alone` says that the worker has no other job.
pub(super) fn next(waiting: &[Waiting], is_alone: bool) -> Turn {
    let allowed = || {
        let places = waiting.iter().enumerate();
        places.filter(|(_, one)| one.limit.is_none_or(|limit| one.running < limit))
    };
    let rank = |(_, one): &(usize, &Waiting)| (one.running, one.last_claim_ms);
    // Of equals the first of the list.
    let Some((place, first)) = allowed().min_by_key(rank) else { return Turn::Nobody };
    if is_alone || !first.is_suspect {
        return Turn::Of(place);
    }
    if first.waited_ms >= PATIENCE_MS {
        return Turn::WaitUntilAlone;
    }
    let other = allowed().filter(|(_, one)| !one.is_suspect).min_by_key(rank);
    other.map_or(Turn::WaitUntilAlone, |(place, _)| Turn::Of(place))
}

/// The moment to write down for a claim: later than all that the decision was made over,
/// even when the clock stands still.
pub(super) fn claim_time(waiting: &[Waiting], now_ms: i64) -> i64 {
    waiting.iter().map(|one| one.last_claim_ms + 1).fold(now_ms, i64::max)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn waiting(name: &str, running: u32, last_claim_ms: i64) -> Waiting {
        Waiting {
            account_id: AccountId(name.to_owned()),
            running,
            limit: None,
            last_claim_ms,
            is_suspect: false,
            waited_ms: 0,
        }
    }

    /// Who is next.
    fn name(waiting: &[Waiting], is_alone: bool) -> &str {
        match next(waiting, is_alone) {
            Turn::Of(place) => &waiting[place].account_id.0,
            Turn::WaitUntilAlone => "(wait)",
            Turn::Nobody => "(nobody)",
        }
    }

    #[test]
    fn fewest_in_work_goes_before_longest_wait() {
        let all = [waiting("busy", 1, 0), waiting("late", 0, 9), waiting("early", 0, 5)];
        assert_eq!(name(&all, true), "early");
        assert_eq!(name(&all[..2], true), "late");
        assert_eq!(name(&all[..1], true), "busy");
        assert_eq!(name(&[], true), "(nobody)");
    }

    #[test]
    fn an_account_at_its_limit_is_passed() {
        let full = Waiting { limit: Some(2), ..waiting("full", 2, 0) };
        assert_eq!(name(std::slice::from_ref(&full), true), "(nobody)");
        let room = Waiting { limit: Some(3), ..full.clone() };
        assert_eq!(name(std::slice::from_ref(&room), true), "full");
        assert_eq!(name(&[full, waiting("other", 9, 9)], true), "other");
    }

    #[test]
    fn others_pass_a_suspect_for_a_while_and_then_wait_for_it() {
        let suspect = Waiting { is_suspect: true, ..waiting("suspect", 0, 0) };
        let other = waiting("other", 1, 5);
        let fresh = [suspect.clone(), other.clone()];
        assert_eq!(name(&fresh, true), "suspect");
        assert_eq!(name(&fresh, false), "other");
        assert_eq!(name(&fresh[..1], false), "(wait)");
        let patient = [Waiting { waited_ms: PATIENCE_MS, ..suspect }, other];
        assert_eq!(name(&patient, false), "(wait)");
        assert_eq!(name(&patient, true), "suspect");
    }

    /// What happens to one account of the simulation.
    #[derive(Debug, Clone)]
    struct Account {
        queued: u32,
        waiting: Waiting,
        /// Claims of others since it waits with nothing in work.
        passed: usize,
    }

    proptest! {
        #[test]
        fn no_account_starves_and_no_limit_is_exceeded(
            limits in prop::collection::vec(prop::option::of(1u32..4), 1..8),
            slots in 1u32..6,
            events in prop::collection::vec((any::<prop::sample::Index>(), 0u32..3), 1..300),
        ) {
            let mut accounts: Vec<Account> = limits.iter().enumerate().map(|(at, limit)| Account {
                queued: 0,
                waiting: Waiting { limit: *limit, ..waiting(&at.to_string(), 0, 0) },
                passed: 0,
            }).collect();
            for (index, event) in events {
                let one = &mut accounts[index.index(limits.len())];
                match event {
                    0 => one.waiting.running = one.waiting.running.saturating_sub(1),
                    more => one.queued += more * 5,
                }
                // The clock stands still: turns must not depend on it.
                while accounts.iter().map(|one| one.waiting.running).sum::<u32>() < slots {
                    let due: Vec<Waiting> =
                        accounts.iter().filter(|one| one.queued > 0).map(|one| one.waiting.clone()).collect();
                    let Turn::Of(chosen) = next(&due, false) else { break };
                    let at = claim_time(&due, 0);
                    for one in &mut accounts {
                        if one.waiting.account_id == due[chosen].account_id {
                            one.queued -= 1;
                            one.waiting.running += 1;
                            one.waiting.last_claim_ms = at;
                            one.passed = 0;
                            prop_assert!(one.waiting.limit.is_none_or(|limit| one.waiting.running <= limit));
                        } else if one.queued > 0 && one.waiting.running == 0 {
                            one.passed += 1;
                            prop_assert!(one.passed < limits.len(), "{} starves", one.waiting.account_id.0);
                        }
                    }
                }
            }
        }
    }
}
