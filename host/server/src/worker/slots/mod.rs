//! Where the jobs of this process are: on their way here, waiting, or in a slot.
//!
//! Computing needs a slot, fetching needs none, so a slow host keeps nobody from the
//! processors. `floor` holds the rules; this is the door.

mod floor;

use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::floor::Floor;
pub use self::floor::{CROWD, Limits};
use crate::model::id::AccountId;

/// The slots of one worker; clones share them.
#[derive(Clone)]
pub struct Slots {
    floor: Arc<watch::Sender<Floor>>,
}

impl Slots {
    /// All free.
    pub fn new(limits: Limits) -> Self {
        Self { floor: Arc::new(watch::Sender::new(Floor::new(limits))) }
    }

    /// Whether a further job of this account may be claimed.
    pub fn has_room_for(&self, account: &AccountId) -> bool {
        self.floor.borrow().has_room_for(account, Instant::now())
    }

    /// Whether a job that is claimed now would find a slot.
    pub fn has_free_slot(&self) -> bool {
        self.floor.borrow().has_free_slot()
    }

    /// A job is claimed and begins to be fetched. A suspect gets its slot only when all are
    /// free, and all others wait for it then.
    pub fn enter(&self, account: AccountId, is_suspect: bool, cancel: CancellationToken) -> Place {
        let mut id = 0;
        self.floor.send_modify(|floor| id = floor.enter(account, is_suspect, cancel, Instant::now()));
        Place { slots: self.clone(), id }
    }

    /// Cancels the jobs that do not compute: somebody else may fetch as well.
    pub fn give_back_ahead(&self) {
        self.floor.borrow().give_back_ahead();
    }
}

/// The place of one job, until it is left or dropped.
pub struct Place {
    slots: Slots,
    id: u64,
}

impl Place {
    /// Waits for a slot and takes it.
    pub async fn take_slot(&self) {
        let mut seen = self.slots.floor.subscribe();
        self.slots.floor.send_modify(|floor| floor.ask_for_slot(self.id, Instant::now()));
        seen.wait_for(|floor| floor.is_in_slot(self.id)).await.expect("the sender lives in `self`");
    }

    /// The job got further than where its process ended: it is a suspect no more.
    pub fn trust(&self) {
        self.slots.floor.send_if_modified(|floor| floor.trust(self.id, Instant::now()));
    }

    /// Others may have it.
    pub fn leave(&self) {
        self.slots.floor.send_modify(|floor| floor.leave(self.id, Instant::now()));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.leave();
    }
}
