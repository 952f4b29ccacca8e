//! Webhooks, for the operator: registered, listed, removed. A secret is never shown again.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, Request, State};
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::body::json_object;
use super::caller::Admin;
use super::error::ApiError;
use super::path_id::PathId;
use super::query::{Parameters, last};
use super::state::Api;
use crate::model::date;
use crate::model::event::Event;
use crate::model::id::AccountId;
use crate::model::webhook::Webhook;
use crate::validate;

/// A receiver that hears of jobs.
#[derive(Serialize, ToSchema)]
#[schema(as = Webhook)]
pub(super) struct WebhookView {
    #[schema(value_type = String, format = "uuid")]
    id: Uuid,
    /// Whose jobs it hears of; null: everybody's.
    account: Option<String>,
    #[schema(format = "iri")]
    url: String,
    /// What it hears of; null: everything.
    events: Option<Vec<&'static str>>,
    /// Whether what is sent to it is signed.
    has_secret: bool,
    /// It stands in the configuration file and can only be removed there.
    is_configured: bool,
    #[schema(format = "date-time")]
    created_at: String,
}

/// All receivers.
#[derive(Serialize, ToSchema)]
pub(super) struct WebhookList {
    webhooks: Vec<WebhookView>,
}

/// `POST /v2/admin/webhooks`.
pub(super) async fn register(
    State(api): State<Arc<Api>>,
    Admin: Admin,
    request: Request,
) -> Result<Json<WebhookView>, ApiError> {
    let body = json_object(request, &api.settings.limits).await?;
    let wish = validate::webhook(&body, api.rules.allow_private_urls)?;
    let webhook = Webhook {
        id: Uuid::new_v4(),
        account_id: wish.account_id,
        url: wish.url,
        secret: wish.secret,
        events: wish.events,
        is_configured: false,
        created_ms: date::now_ms(),
    };
    api.store.insert_webhook(webhook.clone()).await?;
    Ok(Json(view(&webhook)))
}

/// `GET /v2/admin/webhooks`, of one account with `account`.
pub(super) async fn list(
    State(api): State<Arc<Api>>,
    Admin: Admin,
    Query(parameters): Parameters,
) -> Result<Json<WebhookList>, ApiError> {
    let account = last(&parameters, "account").map(|name| AccountId(name.to_owned()));
    let webhooks = api.store.list_webhooks(account.as_ref()).await?;
    Ok(Json(WebhookList { webhooks: webhooks.iter().map(view).collect() }))
}

/// `GET /v2/admin/webhooks/{id}`.
pub(super) async fn get(
    State(api): State<Arc<Api>>,
    Admin: Admin,
    PathId(id): PathId,
) -> Result<Json<WebhookView>, ApiError> {
    Ok(Json(view(&find(&api, &id).await?)))
}

/// `DELETE /v2/admin/webhooks/{id}`. What it is still owed is given up.
pub(super) async fn remove(
    State(api): State<Arc<Api>>,
    Admin: Admin,
    PathId(id): PathId,
) -> Result<StatusCode, ApiError> {
    let webhook = find(&api, &id).await?;
    if webhook.is_configured {
        let message = "The webhook stands in the configuration file and must be removed there";
        return Err(ApiError::new(StatusCode::CONFLICT, message));
    }
    match api.store.delete_webhook(webhook.id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ApiError::not_found("Webhook")),
    }
}

async fn find(api: &Api, id: &str) -> Result<Webhook, ApiError> {
    let missing = || ApiError::not_found("Webhook");
    let id = Uuid::parse_str(id).map_err(|_| missing())?;
    api.store.get_webhook(id).await?.ok_or_else(missing)
}

fn view(webhook: &Webhook) -> WebhookView {
    let events = webhook.events.as_ref();
    WebhookView {
        id: webhook.id,
        account: webhook.account_id.as_ref().map(|account| account.0.clone()),
        url: webhook.url.clone(),
        events: events.map(|events| events.iter().copied().map(Event::name).collect()),
        has_secret: webhook.secret.is_some(),
        is_configured: webhook.is_configured,
        created_at: date::iso(webhook.created_ms),
    }
}
