//! For load balancers and supervisors; no key needed.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use super::error::ApiError;
use super::state::Api;
use crate::model::date;

/// Longest time that a probe of the disk may take.
const PROBE: Duration = Duration::from_secs(2);

/// How the service is.
#[derive(Serialize, ToSchema)]
pub(super) struct Health {
    /// `ok` of a process that answers, `ready` of one that accepts jobs.
    status: &'static str,
}

/// `GET /healthz`: the process answers.
pub(super) async fn healthz() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// `GET /readyz`: jobs can be accepted, down to the disk, or could a moment ago.
pub(super) async fn readyz(State(api): State<Arc<Api>>) -> Result<Json<Health>, ApiError> {
    if api.draining.is_cancelled() {
        return Err(ApiError::stopping());
    }
    api.readiness.get(probe(&api)).await?;
    Ok(Json(Health { status: "ready" }))
}

async fn probe(api: &Api) -> Result<(), ApiError> {
    let probe = async {
        api.store.probe(date::now_ms()).await?;
        Ok(api.blobs.probe().await?)
    };
    let slow = || {
        ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "The database, or the disk below it, does not answer in time",
        )
    };
    tokio::time::timeout(PROBE, probe).await.unwrap_or_else(|_| Err(slow()))
}
