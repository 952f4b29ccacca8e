//! Deliveries, for the operator: what was sent, what was not and why, and once more. Addresses
//! are shown as host and port only, since path and query are often all that keeps strangers out.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde_json::{Value, json};
use uuid::Uuid;

use super::caller::Admin;
use super::error::ApiError;
use super::path_id::PathId;
use super::query::{Parameters, last, page};
use super::state::Api;
use crate::model::date;
use crate::model::event::DeliveryStatus;
use crate::model::id::{AccountId, JobId};
use crate::store::{DeliveryFilter, DeliveryRecord, Replay};

/// `GET /v2/admin/deliveries`, the newest first, with `job`, `account`, `status`, `offset` and
/// `limit`.
pub(super) async fn list(
    State(api): State<Arc<Api>>,
    Admin: Admin,
    Query(parameters): Parameters,
) -> Result<Json<Value>, ApiError> {
    let filter = filter(&parameters)?;
    let records = api.store.list_deliveries(&filter).await?;
    let items: Vec<Value> = records.iter().map(view).collect();
    Ok(Json(json!({ "offset": filter.offset, "limit": filter.limit, "items": items })))
}

/// `GET /v2/admin/deliveries/{id}`.
pub(super) async fn get(
    State(api): State<Arc<Api>>,
    Admin: Admin,
    PathId(id): PathId,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(view(&find(&api, &id).await?)))
}

/// `POST /v2/admin/deliveries/{id}/replay`: due now, whatever became of it before.
pub(super) async fn replay(
    State(api): State<Arc<Api>>,
    Admin: Admin,
    PathId(id): PathId,
) -> Result<(StatusCode, Json<Value>), ApiError> {
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

fn view(record: &DeliveryRecord) -> Value {
    let delivery = &record.delivery;
    json!({
        "id": delivery.id,
        "event": delivery.event.name(),
        "target": delivery.target.name(),
        "webhook": delivery.webhook_id,
        "job": record.job_id,
        "account": record.account_id,
        "receiver": record.receiver,
        "method": delivery.method,
        "status": record.status().name(),
        "attempts": record.attempts,
        "last_error": record.last_error,
        "created_at": date::iso(record.created_ms),
        "next_try_at": record.next_try_ms.map(date::iso),
        "delivered_at": record.delivered_ms.map(date::iso),
    })
}
