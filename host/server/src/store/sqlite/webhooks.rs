//! Webhooks, and the messages that a change of a job owes them.

use sqlx::{SqliteConnection, query, query_as};
use uuid::Uuid;

use super::deliveries::insert_delivery;
use super::{Answer, readable, to_json};
use crate::model::cause::chain;
use crate::model::event::{Event, Target};
use crate::model::id::AccountId;
use crate::model::job::{CallbackMethod, Kind};
use crate::model::webhook::Webhook;
use crate::store::deliveries::Delivery;
use crate::store::rows::{HearingRow, WebhookRow};

/// The account of webhooks that hear of everybody's jobs; no account has this name.
const EVERYBODY: &str = "";

const SELECT_HEARING: &str = "
    SELECT j.kind, w.id, w.account_id, w.url, w.secret, w.events, w.is_configured, w.created_ms
    FROM jobs j JOIN webhooks w ON w.account_id = j.account_id OR w.account_id = ''
    WHERE j.id = $1 ORDER BY w.created_ms, w.id";

/// Writes a message for every webhook that hears of what `event` makes of the job's kind. One
/// that cannot be read hears nothing: no job may fail for it.
pub(super) async fn tell_webhooks(
    db: &mut SqliteConnection,
    job_id: &str,
    at_ms: i64,
    event: impl Fn(Kind) -> Event,
) -> Answer<()> {
    let rows: Vec<HearingRow> = query_as(SELECT_HEARING).bind(job_id).fetch_all(&mut *db).await?;
    for row in rows {
        let read = row.kind().map(&event).and_then(|event| Ok((event, Webhook::try_from(row.webhook)?)));
        let (event, webhook) = match read {
            Ok(read) => read,
            Err(error) => {
                tracing::error!(job = job_id, error = chain(&error), "a webhook was passed over");
                continue;
            }
        };
        if !webhook.hears_of(event) {
            continue;
        }
        let delivery = Delivery {
            id: Uuid::new_v4(),
            event,
            target: Target::Webhook,
            url: webhook.url,
            method: CallbackMethod::Post,
            webhook_id: Some(webhook.id),
        };
        insert_delivery(db, job_id, at_ms, &delivery).await?;
    }
    Ok(())
}

const INSERT_WEBHOOK: &str = "
    INSERT INTO webhooks (id, account_id, url, secret, events, is_configured, created_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7)";

pub(in crate::store) async fn insert_webhook(db: &mut SqliteConnection, webhook: &Webhook) -> Answer<()> {
    let events = webhook.events.as_ref();
    let names = events.map(|events| events.iter().map(|event| event.name()).collect::<Vec<_>>());
    query(INSERT_WEBHOOK)
        .bind(webhook.id.to_string())
        .bind(webhook.account_id.as_ref().map_or(EVERYBODY, |account| &account.0))
        .bind(&webhook.url)
        .bind(webhook.secret.as_ref().map(|secret| secret.expose()))
        .bind(names.map(|names| to_json(&names)))
        .bind(webhook.is_configured)
        .bind(webhook.created_ms)
        .execute(db)
        .await?;
    Ok(())
}

const DELETE_CONFIGURED: &str = "DELETE FROM webhooks WHERE is_configured";

pub(in crate::store) async fn replace_configured_webhooks(
    db: &mut SqliteConnection,
    webhooks: &[Webhook],
) -> Answer<()> {
    query(DELETE_CONFIGURED).execute(&mut *db).await?;
    for webhook in webhooks {
        insert_webhook(db, webhook).await?;
    }
    Ok(())
}

const SELECT_WEBHOOK: &str = "
    SELECT id, account_id, url, secret, events, is_configured, created_ms FROM webhooks WHERE id = $1";

pub(in crate::store) async fn select_webhook(db: &mut SqliteConnection, id: Uuid) -> Answer<Option<Webhook>> {
    let row: Option<WebhookRow> = query_as(SELECT_WEBHOOK).bind(id.to_string()).fetch_optional(db).await?;
    row.map(Webhook::try_from).transpose()
}

const LIST_WEBHOOKS: &str = "
    SELECT id, account_id, url, secret, events, is_configured, created_ms
    FROM webhooks WHERE $1 IS NULL OR account_id = $1 ORDER BY created_ms, id";

pub(in crate::store) async fn list_webhooks(
    db: &mut SqliteConnection,
    account: Option<&AccountId>,
) -> Answer<Vec<Webhook>> {
    let account = account.map(|account| account.0.as_str());
    let rows: Vec<WebhookRow> = query_as(LIST_WEBHOOKS).bind(account).fetch_all(db).await?;
    Ok(rows.into_iter().map(Webhook::try_from).filter_map(readable).collect())
}

const DELETE_WEBHOOK: &str = "DELETE FROM webhooks WHERE id = $1 AND NOT is_configured";

pub(in crate::store) async fn delete_webhook(db: &mut SqliteConnection, id: Uuid) -> Answer<bool> {
    Ok(query(DELETE_WEBHOOK).bind(id.to_string()).execute(db).await?.rows_affected() == 1)
}
