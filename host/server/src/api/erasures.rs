//! What the service has erased at the end of its time, for the operator.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use serde_json::{Value, json};

use super::caller::Admin;
use super::error::ApiError;
use super::query::{Parameters, last, page};
use super::state::Api;
use crate::model::date;
use crate::model::id::AccountId;
use crate::store::ErasureRecord;

/// `GET /v2/admin/erasures`, the newest first, with `account`, `offset` and `limit`.
pub(super) async fn list(
    State(api): State<Arc<Api>>,
    Admin: Admin,
    Query(parameters): Parameters,
) -> Result<Json<Value>, ApiError> {
    let (offset, limit) = page(&parameters)?;
    let account = last(&parameters, "account").map(|name| AccountId(name.to_owned()));
    let records = api.store.list_erasures(account.as_ref(), offset, limit).await?;
    let items: Vec<Value> = records.iter().map(view).collect();
    Ok(Json(json!({ "offset": offset, "limit": limit, "items": items })))
}

fn view(record: &ErasureRecord) -> Value {
    json!({
        "account": record.account_id,
        "job": record.job_id,
        "class": record.class,
        "reason": record.reason,
        "erased_at": date::iso(record.erased_ms),
    })
}
