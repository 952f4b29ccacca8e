//! Whose job is next. Decides over what it is shown and reads nothing itself.
//!
//! Accounts share the workers: whoever has the fewest jobs in work is next, among equals
//! the one that was last given a job the longest time ago. So an account that waits with
//! nothing in work is passed at most once by each other.

use crate::model::id::AccountId;

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
}

/// Place of the account whose oldest due job is next; `None`: nobody may have one.
pub(super) fn next(waiting: &[Waiting]) -> Option<usize> {
    let places = waiting.iter().enumerate();
    let allowed = places.filter(|(_, one)| one.limit.is_none_or(|limit| one.running < limit));
    // Of equals the first of the list.
    allowed.min_by_key(|(_, one)| (one.running, one.last_claim_ms)).map(|(place, _)| place)
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
        Waiting { account_id: AccountId(name.to_owned()), running, limit: None, last_claim_ms }
    }

    /// Who is next.
    fn name(waiting: &[Waiting]) -> &str {
        next(waiting).map_or("(nobody)", |place| &waiting[place].account_id.0)
    }

    #[test]
    fn fewest_in_work_goes_before_longest_wait() {
        let all = [waiting("busy", 1, 0), waiting("late", 0, 9), waiting("early", 0, 5)];
        assert_eq!(name(&all), "early");
        assert_eq!(name(&all[..2]), "late");
        assert_eq!(name(&all[..1]), "busy");
        assert_eq!(name(&[]), "(nobody)");
    }

    #[test]
    fn an_account_at_its_limit_is_passed() {
        let full = Waiting { limit: Some(2), ..waiting("full", 2, 0) };
        assert_eq!(name(std::slice::from_ref(&full)), "(nobody)");
        let room = Waiting { limit: Some(3), ..full.clone() };
        assert_eq!(name(std::slice::from_ref(&room)), "full");
        assert_eq!(name(&[full, waiting("other", 9, 9)]), "other");
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
                    let Some(chosen) = next(&due) else { break };
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
