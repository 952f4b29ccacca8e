//! What the service has erased at the end of its time, for the operator.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use serde::Serialize;
use utoipa::ToSchema;

use super::caller::Admin;
use super::error::ApiError;
use super::query::{Parameters, last, page};
use super::state::Api;
use crate::model::date;
use crate::model::id::AccountId;
use crate::store::ErasureRecord;

/// Something that was erased.
#[derive(Serialize, ToSchema)]
pub(super) struct ErasureView {
    account: String,
    /// Null for an upload that no job used.
    job: Option<String>,
    /// `audio`, `transcript`, or `metadata` for a whole job.
    class: String,
    /// `retention` or `zero_retention`.
    reason: String,
    #[schema(format = "date-time")]
    erased_at: String,
}

/// A part of the list of what was erased.
#[derive(Serialize, ToSchema)]
pub(super) struct ErasureList {
    offset: u32,
    limit: u32,
    items: Vec<ErasureView>,
}

/// `GET /v2/admin/erasures`, the newest first, with `account`, `offset` and `limit`.
pub(super) async fn list(
    State(api): State<Arc<Api>>,
    Admin: Admin,
    Query(parameters): Parameters,
) -> Result<Json<ErasureList>, ApiError> {
    let (offset, limit) = page(&parameters)?;
    let account = last(&parameters, "account").map(|name| AccountId(name.to_owned()));
    let records = api.store.list_erasures(account.as_ref(), offset, limit).await?;
    let items = records.into_iter().map(view).collect();
    Ok(Json(ErasureList { offset, limit, items }))
}

fn view(record: ErasureRecord) -> ErasureView {
    ErasureView {
        account: record.account_id.0,
        job: record.job_id,
        class: record.class,
        reason: record.reason,
        erased_at: date::iso(record.erased_ms),
    }
}
