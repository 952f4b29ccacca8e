//! The loop that sends what is due.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Client;
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use super::attempt::attempt;
use super::post;
use super::settings::Settings;
use crate::blob::Blobs;
use crate::model::cause::chain;
use crate::model::date;
use crate::store::{DueDelivery, DueShares, Store, StoreError};

/// Longest pause between two looks at the outbox.
const POLL_PAUSE: Duration = Duration::from_millis(500);
/// Shortest one, so that a long queue is not read again for each message that ends.
const LOOK_PAUSE: Duration = Duration::from_millis(20);
/// Pause after the database did not answer.
const FAILED_PAUSE: Duration = Duration::from_secs(2);

/// All that a sender works with.
pub struct Parts {
    /// The outbox, and the jobs that messages are about.
    pub store: Arc<Store>,
    /// Results.
    pub blobs: Blobs,
    /// What the operator decided.
    pub settings: Settings,
    /// Name of this process as the owner of claims. When it is known to be dead,
    /// `Store::end_leases` makes its messages due again.
    pub owner: String,
}

/// Sends messages until it is told to stop.
pub struct Sender {
    sending: Arc<Sending>,
    owner: String,
}

/// What an attempt needs.
pub(super) struct Sending {
    pub store: Arc<Store>,
    pub blobs: Blobs,
    pub settings: Settings,
    pub client: Client,
}

impl Sender {
    /// Sets the HTTP client up.
    ///
    /// # Errors
    /// When there is no TLS to be had.
    pub fn new(parts: Parts) -> Result<Self, reqwest::Error> {
        let Parts { store, blobs, settings, owner } = parts;
        let client = post::client(&settings)?;
        Ok(Self { sending: Arc::new(Sending { store, blobs, settings, client }), owner })
    }

    /// Sends until `stop` fires, then lets the messages on their way arrive until `cut_off`
    /// fires, and gives the rest back.
    ///
    /// 1. Claim and send what is due, as far as there is room.
    /// 2. Wait: for the end of an attempt, a new message, the pause, or the stop.
    /// 3. Again.
    /// 4. At the stop: wait for what is on its way, or for its release.
    pub async fn run(self, stop: CancellationToken, cut_off: CancellationToken) {
        let changed = self.sending.store.outbox_changed();
        let mut flights = Flights::default();
        while !stop.is_cancelled() {
            let pause = match self.send_due(&mut flights, &cut_off).await {
                Ok(()) => POLL_PAUSE,
                Err(error) => {
                    tracing::error!(error = chain(&error), "what is due cannot be claimed");
                    FAILED_PAUSE
                }
            };
            tokio::time::sleep(LOOK_PAUSE).await;
            tokio::select! {
                () = flights.one_ends() => {}
                () = changed.notified() => {}
                () = tokio::time::sleep(pause) => {}
                () = stop.cancelled() => {}
            }
        }
        flights.all_end().await;
    }

    async fn send_due(&self, flights: &mut Flights, cut_off: &CancellationToken) -> Result<(), StoreError> {
        let settings = &self.sending.settings;
        flights.clear_ended();
        if flights.len() >= settings.in_flight {
            return Ok(());
        }
        let due = self.sending.store.due_deliveries(date::now_ms(), shares(settings)).await?;
        let chosen = flights.choose(settings, due);
        let until_ms = date::now_ms() + settings.lease().as_millis() as i64;
        // Side by side, so that they share one commit.
        let claims = chosen.iter().map(|due| self.sending.store.claim_delivery(due, &self.owner, until_ms));
        let claims = join_all(claims).await;
        let mut outcome = Ok(());
        for (due, claim) in chosen.into_iter().zip(claims) {
            match claim {
                Ok(Some(claim)) => {
                    let (sending, cut_off) = (self.sending.clone(), cut_off.clone());
                    flights.spawn(due, async move { attempt(&sending, claim, cut_off).await });
                }
                Ok(None) => {}
                // The other claims are durable all the same.
                Err(error) => outcome = Err(error),
            }
        }
        outcome
    }
}

/// Those of an account that has no room, or for a receiver that has none, are as many as are on
/// their way at most: with three times that number there are always enough others.
fn shares(settings: &Settings) -> DueShares {
    DueShares {
        all: settings.in_flight.saturating_mul(3),
        per_account: settings.in_flight_per_account,
        per_receiver: settings.in_flight_per_receiver,
    }
}

/// The messages on their way.
#[derive(Default)]
struct Flights {
    tasks: JoinSet<()>,
    on_their_way: HashMap<Id, DueDelivery>,
}

impl Flights {
    fn len(&self) -> u32 {
        u32::try_from(self.on_their_way.len()).unwrap_or(u32::MAX)
    }

    /// Those for which there is room in the house, for the account, and to the receiver.
    /// Accounts do not wait for each other at a receiver that they share.
    fn choose(&self, settings: &Settings, due: Vec<DueDelivery>) -> Vec<DueDelivery> {
        let mut chosen: Vec<DueDelivery> = Vec::new();
        for candidate in due {
            let all = || self.on_their_way.values().chain(&chosen);
            let of_account = || all().filter(|other| other.account_id == candidate.account_id);
            let to_receiver = of_account().filter(|other| other.receiver == candidate.receiver);
            let has_room = all().count() < settings.in_flight as usize
                && of_account().count() < settings.in_flight_per_account as usize
                && to_receiver.count() < settings.in_flight_per_receiver as usize;
            if has_room {
                chosen.push(candidate);
            }
        }
        chosen
    }

    fn spawn(&mut self, due: DueDelivery, work: impl Future<Output = ()> + Send + 'static) {
        let id = self.tasks.spawn(work).id();
        self.on_their_way.insert(id, due);
    }

    /// Never returns while there are none.
    async fn one_ends(&mut self) {
        match self.tasks.join_next_with_id().await {
            Some(ended) => self.note(ended),
            None => std::future::pending().await,
        }
    }

    async fn all_end(&mut self) {
        while let Some(ended) = self.tasks.join_next_with_id().await {
            self.note(ended);
        }
    }

    fn clear_ended(&mut self) {
        while let Some(ended) = self.tasks.try_join_next_with_id() {
            self.note(ended);
        }
    }

    /// A panic is a defect; the end of the lease makes the message due again.
    fn note(&mut self, ended: Result<(Id, ()), JoinError>) {
        let id = match ended {
            Ok((id, ())) => id,
            Err(error) => {
                tracing::error!(panicked = error.is_panic(), "a delivery ended unexpectedly");
                error.id()
            }
        };
        self.on_their_way.remove(&id);
    }
}
