//! The rules of the slots. Pure: the time is told to them.
//!
//! A free slot goes to the account with the fewest slots, among equals to the job that has
//! waited longest.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::model::id::AccountId;

/// A fetch that takes longer stands aside: it no longer counts as the account's next job, so
/// that another one is claimed.
const SLOW_FETCH: Duration = Duration::from_secs(10);
/// How long others go ahead of a suspect that must be alone. After that no further slot is
/// given out until the taken ones are free, or the suspect would wait for ever.
const PATIENCE: Duration = Duration::from_secs(60);

/// Accounts that are let in with their first job while others have filled the house, as a multiple
/// of [`Limits::ahead`]: each fetch takes a thread, a connection and files.
pub const CROWD: usize = 4;

/// How many jobs may be where.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Jobs that compute.
    pub slots: usize,
    /// Jobs that are fetched or wait for a slot; the first of each account comes on top.
    pub ahead: usize,
    /// Of those, jobs of one account.
    pub ahead_per_account: usize,
}

/// All claimed jobs of this process.
pub(super) struct Floor {
    limits: Limits,
    jobs: Vec<Claimed>,
    next_id: u64,
}

struct Claimed {
    id: u64,
    account: AccountId,
    is_suspect: bool,
    stage: Stage,
    cancel: CancellationToken,
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Fetching { since: Instant },
    Waiting { since: Instant },
    InSlot,
}

impl Floor {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, jobs: Vec::new(), next_id: 0 }
    }

    /// No account has more jobs ahead than the slots could take next, slow fetches aside:
    /// downloads that came in together would only share the line and finish late. Who has
    /// none ahead is let in beside a full house as well, up to [`CROWD`].
    pub(super) fn has_room_for(&self, account: &AccountId, now: Instant) -> bool {
        let of_account = || self.jobs.iter().filter(|job| job.account == *account);
        let ahead = of_account().filter(|job| job.stage != Stage::InSlot).count();
        let is_slow =
            |job: &&Claimed| matches!(job.stage, Stage::Fetching { since } if now - since >= SLOW_FETCH);
        let steady = of_account().filter(|job| !is_slow(job)).count();
        let all_ahead = self.jobs.len() - self.in_slots();
        let is_full = all_ahead >= self.limits.ahead;
        if ahead == 0 {
            return all_ahead < self.limits.ahead * CROWD;
        }
        !is_full && ahead < self.limits.ahead_per_account && steady < 2 * self.limits.slots
    }

    pub(super) fn has_free_slot(&self) -> bool {
        self.in_slots() < self.limits.slots
    }

    pub(super) fn is_in_slot(&self, id: u64) -> bool {
        self.jobs.iter().any(|job| job.id == id && job.stage == Stage::InSlot)
    }

    /// Says under which number the job is known from now on.
    pub(super) fn enter(
        &mut self,
        account: AccountId,
        is_suspect: bool,
        cancel: CancellationToken,
        now: Instant,
    ) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.jobs.push(Claimed { id, account, is_suspect, stage: Stage::Fetching { since: now }, cancel });
        id
    }

    pub(super) fn ask_for_slot(&mut self, id: u64, now: Instant) {
        for job in self.jobs.iter_mut().filter(|job| job.id == id) {
            job.stage = Stage::Waiting { since: now };
        }
        self.give_out(now);
    }

    /// The job got further than where its process ended: others may compute beside it. Says
    /// whether it was a suspect.
    pub(super) fn trust(&mut self, id: u64, now: Instant) -> bool {
        let suspect = self.jobs.iter_mut().find(|job| job.id == id && job.is_suspect);
        let was_suspect = suspect.map(|job| job.is_suspect = false).is_some();
        if was_suspect {
            self.give_out(now);
        }
        was_suspect
    }

    /// Cancels what does not compute.
    pub(super) fn give_back_ahead(&self) {
        self.jobs.iter().filter(|job| job.stage != Stage::InSlot).for_each(|job| job.cancel.cancel());
    }

    pub(super) fn leave(&mut self, id: u64, now: Instant) {
        self.jobs.retain(|job| job.id != id);
        self.give_out(now);
    }

    fn give_out(&mut self, now: Instant) {
        while let Some(at) = self.next(now) {
            self.jobs[at].stage = Stage::InSlot;
        }
    }

    /// Index of the job that gets a slot now.
    fn next(&self, now: Instant) -> Option<usize> {
        let is_alone = self.in_slots() == 0;
        let suspect_computes = self.jobs.iter().any(|job| job.is_suspect && job.stage == Stage::InSlot);
        if !self.has_free_slot() || suspect_computes {
            return None;
        }
        let (at, since) = self.first_waiting(|_| true)?;
        match self.jobs[at].is_suspect && !is_alone {
            false => Some(at),
            true if now - since >= PATIENCE => None,
            true => self.first_waiting(|job| !job.is_suspect).map(|(at, _)| at),
        }
    }

    fn first_waiting(&self, may: impl Fn(&Claimed) -> bool) -> Option<(usize, Instant)> {
        let waiting = self.jobs.iter().enumerate().filter_map(|(at, job)| match job.stage {
            Stage::Waiting { since } if may(job) => Some((at, since)),
            _ => None,
        });
        waiting.min_by_key(|(at, since)| (self.slots_of(&self.jobs[*at].account), *since))
    }

    fn slots_of(&self, account: &AccountId) -> usize {
        self.jobs.iter().filter(|job| job.stage == Stage::InSlot && job.account == *account).count()
    }

    fn in_slots(&self) -> usize {
        self.jobs.iter().filter(|job| job.stage == Stage::InSlot).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { slots: 2, ahead: 12, ahead_per_account: 6 };

    /// A floor whose clock the test holds.
    struct Scene {
        floor: Floor,
        now: Instant,
    }

    impl Scene {
        fn empty() -> Self {
            Self { floor: Floor::new(LIMITS), now: Instant::now() }
        }

        /// As the worker does: only while there is room.
        fn claim(&mut self, name: &str) -> Option<u64> {
            let account = account(name);
            let may = self.floor.has_room_for(&account, self.now);
            may.then(|| self.floor.enter(account, false, CancellationToken::new(), self.now))
        }

        fn ready(&mut self, name: &str) -> u64 {
            self.ready_as(name, false)
        }

        fn ready_as(&mut self, name: &str, is_suspect: bool) -> u64 {
            self.after(1);
            let id = self.floor.enter(account(name), is_suspect, CancellationToken::new(), self.now);
            self.floor.ask_for_slot(id, self.now);
            id
        }

        fn leave(&mut self, id: u64) {
            self.floor.leave(id, self.now);
        }

        fn after(&mut self, seconds: u64) {
            self.now += Duration::from_secs(seconds);
        }

        fn computing(&self) -> Vec<u64> {
            let in_slots = self.floor.jobs.iter().filter(|job| job.stage == Stage::InSlot);
            in_slots.map(|job| job.id).collect()
        }
    }

    fn account(name: &str) -> AccountId {
        AccountId(name.to_owned())
    }

    #[test]
    fn slow_fetches_stand_aside_up_to_the_accounts_share() {
        let mut scene = Scene::empty();
        let count = |scene: &mut Scene| std::iter::from_fn(|| scene.claim("one")).count();
        assert_eq!(count(&mut scene), 4, "what the slots could take, twice");
        scene.after(9);
        assert_eq!(count(&mut scene), 0);
        scene.after(1);
        assert_eq!(count(&mut scene), 2, "its share");
        scene.after(1_000);
        assert_eq!(count(&mut scene), 0);
        assert!(scene.claim("other").is_some());
        assert!(scene.floor.has_free_slot());
    }

    #[test]
    fn all_accounts_together_have_a_limit_that_jobs_in_slots_do_not_count_for() {
        let mut scene = Scene::empty();
        let (first, _) = (scene.ready("first"), scene.ready("second"));
        for number in 0..LIMITS.ahead {
            assert!(scene.claim(&number.to_string()).is_some(), "{number}");
        }
        assert!(scene.claim("0").is_none(), "a second one");
        scene.leave(first);
        assert!(scene.claim("0").is_none(), "a slot is free, but nobody waits for it");
        scene.leave(3);
        assert!(scene.claim("0").is_some());
        assert!(scene.claim("late").is_some() && scene.claim("later").is_some(), "the first of each");
    }

    #[test]
    fn a_free_slot_goes_to_whoever_has_fewest_then_to_whoever_waits_longest() {
        let mut scene = Scene::empty();
        let many: Vec<u64> = (0..4).map(|_| scene.ready("many")).collect();
        let (few, later) = (scene.ready("few"), scene.ready("later"));
        assert_eq!(scene.computing(), many[..2]);
        assert!(!scene.floor.has_free_slot());
        scene.leave(many[0]);
        assert_eq!(scene.computing(), [many[1], few]);
        scene.leave(many[1]);
        assert_eq!(scene.computing(), [many[2], few], "none of either: the longest wait");
        scene.leave(few);
        assert_eq!(scene.computing(), [many[2], later]);
        scene.leave(many[2]);
        scene.leave(many[3]);
        assert_eq!(scene.computing(), [later], "one that left while it waited gets nothing");
    }

    #[test]
    fn a_suspect_is_passed_for_a_minute_and_then_waited_for_and_is_alone() {
        let mut scene = Scene::empty();
        let first = scene.ready("first");
        let suspect = scene.ready_as("suspect", true);
        let second = scene.ready("second");
        assert_eq!(scene.computing(), [first, second], "passed");
        scene.after(PATIENCE.as_secs());
        let third = scene.ready("third");
        scene.leave(first);
        assert_eq!(scene.computing(), [second], "waited for");
        scene.leave(second);
        assert_eq!(scene.computing(), [suspect], "alone");
        scene.leave(suspect);
        assert_eq!(scene.computing(), [third]);
    }

    #[test]
    fn a_suspect_that_got_further_is_none() {
        let mut scene = Scene::empty();
        let suspect = scene.ready_as("suspect", true);
        let other = scene.ready("other");
        assert_eq!(scene.computing(), [suspect]);
        assert!(scene.floor.trust(suspect, scene.now));
        assert_eq!(scene.computing(), [suspect, other]);
        assert!(!scene.floor.trust(suspect, scene.now), "nobody has to be told again");
    }

    #[test]
    fn only_what_does_not_compute_is_given_back() {
        let mut scene = Scene::empty();
        scene.ready("one");
        scene.claim("one");
        scene.floor.give_back_ahead();
        let cancelled: Vec<bool> = scene.floor.jobs.iter().map(|job| job.cancel.is_cancelled()).collect();
        assert_eq!(cancelled, [false, true]);
    }

    #[test]
    fn a_suspect_with_nobody_beside_it_begins_at_once() {
        let mut scene = Scene::empty();
        let suspect = scene.ready_as("suspect", true);
        scene.claim("fetching");
        assert_eq!(scene.computing(), [suspect], "a fetch is in nobody's way");
    }
}
