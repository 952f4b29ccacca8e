//! Messages to the outside: written with the change that they tell of, sent later.

use std::sync::Arc;

use sqlx::SqliteConnection;
use tokio::sync::Notify;
use uuid::Uuid;

use super::error::StoreError;
use super::open::Store;
use super::sqlite;
use crate::model::event::{DeliveryStatus, Event, Target};
use crate::model::id::{AccountId, JobId};
use crate::model::job::CallbackMethod;

/// A message to send about a job. Its body is built from the result when it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The same over all attempts, so that a receiver can recognise a repetition.
    pub id: Uuid,
    /// What happened.
    pub event: Event,
    /// Who hears of it.
    pub target: Target,
    /// Where to.
    pub url: String,
    /// How.
    pub method: CallbackMethod,
    /// The webhook that this is for.
    pub webhook_id: Option<Uuid>,
}

/// A message with all that happened to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRecord {
    /// The message.
    pub delivery: Delivery,
    /// Owner of the job.
    pub account_id: AccountId,
    /// The job.
    pub job_id: JobId,
    /// `host:port` of the receiver.
    pub receiver: String,
    /// Attempts since it was written or replayed; the one that is running counts.
    pub attempts: i64,
    /// Why the last attempt failed; nothing of the message or its URL.
    pub last_error: Option<String>,
    /// When it was written, milliseconds since 1970.
    pub created_ms: i64,
    /// When it is tried next; absent once it was delivered or given up.
    pub next_try_ms: Option<i64>,
    /// When the receiver took it.
    pub delivered_ms: Option<i64>,
}

impl DeliveryRecord {
    /// Where it stands.
    pub fn status(&self) -> DeliveryStatus {
        match (self.next_try_ms, self.delivered_ms) {
            (Some(_), _) => DeliveryStatus::Pending,
            (None, Some(_)) => DeliveryStatus::Delivered,
            (None, None) => DeliveryStatus::GivenUp,
        }
    }
}

/// A message whose turn it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueDelivery {
    /// Its id.
    pub id: Uuid,
    /// Owner of the job.
    pub account_id: AccountId,
    /// `host:port` of the receiver.
    pub receiver: String,
    /// Since when; changes with every claim.
    pub next_try_ms: i64,
}

/// How many messages whose turn it is are named at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueShares {
    /// In all.
    pub all: u32,
    /// Of those, messages of one account.
    pub per_account: u32,
    /// Of those, messages to one receiver.
    pub per_receiver: u32,
}

/// The right to send a message until the lease ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryClaim {
    /// The message.
    pub delivery: Delivery,
    /// The job that it is about.
    pub job_id: JobId,
    /// When the message was written, milliseconds since 1970.
    pub created_ms: i64,
    /// The process that sends it.
    pub owner: String,
    /// Number of the attempt, from 1.
    pub attempt: i64,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attempted {
    /// The receiver has taken it.
    Delivered {
        /// When, milliseconds since 1970.
        at_ms: i64,
    },
    /// It has not.
    Failed {
        /// Why; nothing of the message or its URL.
        error: String,
        /// When to try again; absent: never.
        next_try_ms: Option<i64>,
    },
    /// It was broken off by us, or failed by a shortage of ours, and does not count.
    Released {
        /// Why it failed, if it did; nothing of the message or its URL.
        error: Option<String>,
        /// When to try again.
        next_try_ms: i64,
    },
}

/// Which messages to list.
#[derive(Debug, Clone, Default)]
pub struct DeliveryFilter {
    /// Of this job only.
    pub job_id: Option<JobId>,
    /// Of this account only.
    pub account_id: Option<AccountId>,
    /// Only those that stand so.
    pub status: Option<DeliveryStatus>,
    /// Left out at the beginning.
    pub offset: u32,
    /// At most so many.
    pub limit: u32,
}

/// What came of the wish to send a message once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replay {
    /// It is due now, with all its attempts before it.
    Due,
    /// It is being sent at this moment.
    IsBeingSent,
    /// There is no such message.
    Missing,
}

impl Store {
    /// Notified after every change that may make a message due at once.
    pub fn outbox_changed(&self) -> Arc<Notify> {
        self.outbox_changed.clone()
    }

    /// Messages whose turn it is at `now_ms`, the longest waiting first. A message waits for
    /// earlier ones about its job to the same receiver.
    pub async fn due_deliveries(
        &self,
        now_ms: i64,
        shares: DueShares,
    ) -> Result<Vec<DueDelivery>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::select_due_deliveries(&mut db, now_ms, shares).await
    }

    /// Takes a message that was seen as due, until `until_ms`; `None` when somebody else was
    /// faster. The attempt is counted in the same commit, before it is made.
    pub async fn claim_delivery(
        &self,
        due: &DueDelivery,
        owner: &str,
        until_ms: i64,
    ) -> Result<Option<DeliveryClaim>, StoreError> {
        let (due, owner) = (due.clone(), owner.to_owned());
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::claim_delivery(db, &due, owner, until_ms).await })
            })
            .await
    }

    /// Notes how an attempt ended; false when the claim is gone.
    pub async fn end_attempt(&self, claim: &DeliveryClaim, attempted: Attempted) -> Result<bool, StoreError> {
        let claim = claim.clone();
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::end_attempt(db, &claim, &attempted).await })
            })
            .await
    }

    /// The messages about a job, the oldest first.
    #[cfg(test)]
    pub async fn deliveries_of(&self, id: JobId) -> Result<Vec<Delivery>, StoreError> {
        let mut db = self.reader().await?;
        let records = sqlite::select_deliveries_of_job(&mut db, id).await?;
        Ok(records.into_iter().map(|record| record.delivery).collect())
    }

    /// A message, whoever owns the job.
    pub async fn get_delivery(&self, id: Uuid) -> Result<Option<DeliveryRecord>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::select_delivery(&mut db, id).await
    }

    /// Messages, the newest first.
    pub async fn list_deliveries(&self, filter: &DeliveryFilter) -> Result<Vec<DeliveryRecord>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::list_deliveries(&mut db, filter).await
    }

    /// Makes a message due at once, as if it had never been tried.
    pub async fn replay_delivery(&self, id: Uuid, now_ms: i64) -> Result<Replay, StoreError> {
        let replay = self
            .writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::replay_delivery(db, id, now_ms).await })
            })
            .await?;
        self.outbox_changed.notify_one();
        Ok(replay)
    }
}
