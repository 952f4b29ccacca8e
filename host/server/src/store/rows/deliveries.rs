//! Messages.

use sqlx::FromRow;
use uuid::Uuid;

use super::columns::{Place, method_text, named};
use crate::model::event::{Event, Target};
use crate::model::id::{AccountId, JobId};
use crate::model::job::CallbackMethod;
use crate::store::deliveries::{Delivery, DeliveryRecord};
use crate::store::error::StoreError;

/// A row of `deliveries`.
#[derive(FromRow)]
pub(in crate::store) struct DeliveryRow {
    id: String,
    account_id: String,
    job_id: String,
    event: String,
    target: String,
    url: String,
    method: String,
    webhook_id: Option<String>,
    receiver: String,
    attempts: i64,
    last_error: Option<String>,
    created_ms: i64,
    next_try_ms: Option<i64>,
    delivered_ms: Option<i64>,
}

/// What says that a delivery is due.
#[derive(FromRow)]
pub(in crate::store) struct DueRow {
    pub id: String,
    pub account_id: String,
    pub receiver: String,
    pub next_try_ms: i64,
}

impl TryFrom<DeliveryRow> for DeliveryRecord {
    type Error = StoreError;

    fn try_from(row: DeliveryRow) -> Result<Self, StoreError> {
        let corrupt = |cause: &str| Place { table: "deliveries", id: &row.id }.corrupt(cause);
        let methods = [CallbackMethod::Post, CallbackMethod::Put];
        let webhook_id = row.webhook_id.as_deref().map(Uuid::parse_str).transpose();
        let delivery = Delivery {
            id: Uuid::parse_str(&row.id).map_err(|_| corrupt("id"))?,
            event: named(Event::ALL, Event::name, &row.event).ok_or_else(|| corrupt("event"))?,
            target: named(Target::ALL, Target::name, &row.target).ok_or_else(|| corrupt("target"))?,
            method: named(methods, method_text, &row.method).ok_or_else(|| corrupt("method"))?,
            url: row.url,
            webhook_id: webhook_id.map_err(|_| corrupt("webhook_id"))?,
        };
        Ok(Self {
            delivery,
            job_id: JobId::parse(&row.job_id).ok_or_else(|| corrupt("job_id"))?,
            account_id: AccountId(row.account_id),
            receiver: row.receiver,
            attempts: row.attempts,
            last_error: row.last_error,
            created_ms: row.created_ms,
            next_try_ms: row.next_try_ms,
            delivered_ms: row.delivered_ms,
        })
    }
}
