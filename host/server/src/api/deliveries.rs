//! Deliveries, for the operator: what was sent, what was not and why, and once more. Addresses
//! are shown as host and port only, since path and query are often all that keeps strangers out.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::caller::Admin;
use super::error::ApiError;
use super::path_id::PathId;
use super::query::{Parameters, last, page};
use super::state::Api;
use crate::model::date;
use crate::model::event::DeliveryStatus;
use crate::model::id::{AccountId, JobId};
use crate::model::job::CallbackMethod;
use crate::store::{DeliveryFilter, DeliveryRecord, Replay};

/// A message about a job, with all that happened to it.
#[derive(Serialize, ToSchema)]
pub(super) struct DeliveryView {
    /// The same in every attempt and replay.
    #[schema(value_type = String, format = "uuid")]
    id: Uuid,
    event: &'static str,
    /// `callback` or `webhook`.
    target: &'static str,
    /// Set for a webhook.
    #[schema(value_type = Option<String>, format = "uuid")]
    webhook: Option<Uuid>,
    #[schema(value_type = String, format = "uuid")]
    job: JobId,
    account: String,
    /// Host and port.
    receiver: String,
    #[schema(value_type = String)]
    method: CallbackMethod,
    /// `pending`, `delivered` or `given_up`.
    status: &'static str,
    /// Since it was written or replayed; the one that is running counts.
    attempts: i64,
    /// Why the last attempt failed.
    last_error: Option<String>,
    #[schema(format = "date-time")]
    created_at: String,
    #[schema(format = "date-time")]
    next_try_at: Option<String>,
    #[schema(format = "date-time")]
    delivered_at: Option<String>,
}

/// A part of the list of messages.
#[derive(Serialize, ToSchema)]
pub(super) struct DeliveryList {
    offset: u32,
    limit: u32,
    items: Vec<DeliveryView>,
}

/// `GET /v2/admin/deliveries`, the newest first, with `job`, `account`, `status`, `offset` and
/// `limit`.
pub(super) async fn list(
    State(api): State<Arc<Api>>,
    Admin: Admin,
    Query(parameters): Parameters,
) -> Result<Json<DeliveryList>, ApiError> {
    let filter = filter(&parameters)?;
    let records = api.store.list_deliveries(&filter).await?;
    let items = records.iter().map(view).collect();
    Ok(Json(DeliveryList { offset: filter.offset, limit: filter.limit, items }))
}

/// `GET /v2/admin/deliveries/{id}`.
pub(super) async fn get(
    State(api): State<Arc<Api>>,
    Admin: Admin,
    PathId(id): PathId,
) -> Result<Json<DeliveryView>, ApiError> {
    Ok(Json(view(&find(&api, &id).await?)))
}

/// `POST /v2/admin/deliveries/{id}/replay`: due now, whatever became of it before.
pub(super) async fn replay(
    State(api): State<Arc<Api>>,
    Admin: Admin,
    PathId(id): PathId,
) -> Result<(StatusCode, Json<DeliveryView>), ApiError> {
    let record = find(&api, &id).await?;
    match api.store.replay_delivery(record.delivery.id, date::now_ms()).await? {
        Replay::Due => Ok((StatusCode::ACCEPTED, Json(view(&find(&api, &id).await?)))),
        Replay::IsBeingSent => {
            Err(ApiError::new(StatusCode::CONFLICT, "The delivery is being sent at this moment"))
        }
        Replay::Missing => Err(ApiError::not_found("Delivery")),
    }
}

async fn find(api: &Api, id: &str) -> Result<DeliveryRecord, ApiError> {
    let missing = || ApiError::not_found("Delivery");
    let id = Uuid::parse_str(id).map_err(|_| missing())?;
    api.store.get_delivery(id).await?.ok_or_else(missing)
}

fn filter(parameters: &[(String, String)]) -> Result<DeliveryFilter, ApiError> {
    let (offset, limit) = page(parameters)?;
    let job_id = match last(parameters, "job").map(JobId::parse) {
        Some(None) => return Err(ApiError::invalid_one("job must be the id of a job")),
        known => known.flatten(),
    };
    let status = last(parameters, "status")
        .map(|name| DeliveryStatus::ALL.into_iter().find(|status| status.name() == name));
    let status = match status {
        Some(None) => {
            return Err(ApiError::invalid_one("status must be one of pending, delivered, given_up"));
        }
        known => known.flatten(),
    };
    Ok(DeliveryFilter {
        job_id,
        account_id: last(parameters, "account").map(|name| AccountId(name.to_owned())),
        status,
        offset,
        limit,
    })
}

fn view(record: &DeliveryRecord) -> DeliveryView {
    let delivery = &record.delivery;
    DeliveryView {
        id: delivery.id,
        event: delivery.event.name(),
        target: delivery.target.name(),
        webhook: delivery.webhook_id,
        job: record.job_id,
        account: record.account_id.0.clone(),
        receiver: record.receiver.clone(),
        method: delivery.method,
        status: record.status().name(),
        attempts: record.attempts,
        last_error: record.last_error.clone(),
        created_at: date::iso(record.created_ms),
        next_try_at: record.next_try_ms.map(date::iso),
        delivered_at: record.delivered_ms.map(date::iso),
    }
}
