//! Webhooks.

use sqlx::FromRow;
use uuid::Uuid;

use super::columns::{Place, kind_from};
use crate::model::event::Event;
use crate::model::id::AccountId;
use crate::model::job::Kind;
use crate::model::secret::Secret;
use crate::model::webhook::Webhook;
use crate::store::error::StoreError;

/// A row of `webhooks`.
#[derive(FromRow)]
pub(in crate::store) struct WebhookRow {
    id: String,
    account_id: String,
    url: String,
    secret: Option<String>,
    events: Option<String>,
    is_configured: bool,
    created_ms: i64,
}

/// A webhook that may hear of a job, and the job's kind.
#[derive(FromRow)]
pub(in crate::store) struct HearingRow {
    kind: String,
    #[sqlx(flatten)]
    pub webhook: WebhookRow,
}

impl HearingRow {
    pub fn kind(&self) -> Result<Kind, StoreError> {
        let place = Place { table: "jobs", id: &self.webhook.id };
        kind_from(&self.kind).ok_or_else(|| place.corrupt("kind of a job that this webhook hears of"))
    }
}

impl TryFrom<WebhookRow> for Webhook {
    type Error = StoreError;

    fn try_from(row: WebhookRow) -> Result<Self, StoreError> {
        let place = Place { table: "webhooks", id: &row.id };
        let names: Option<Vec<String>> =
            row.events.as_deref().map(|text| place.json("events", text)).transpose()?;
        let events =
            names.map(|names| names.iter().map(|name| Event::parse(name)).collect::<Option<Vec<_>>>());
        Ok(Self {
            id: Uuid::parse_str(&row.id).map_err(|_| place.corrupt("id"))?,
            events: match events {
                Some(None) => return Err(place.corrupt("events")),
                known => known.flatten(),
            },
            // No account has an empty name.
            account_id: (!row.account_id.is_empty()).then(|| AccountId(row.account_id.clone())),
            url: row.url,
            secret: row.secret.map(Secret::new),
            is_configured: row.is_configured,
            created_ms: row.created_ms,
        })
    }
}
