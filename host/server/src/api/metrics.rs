//! `GET /metrics`: figures for Prometheus.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;

use super::error::ApiError;
use super::state::Api;
use crate::metrics;

/// The text format that every Prometheus reads.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Needs no key: it says how much work there is, never whose.
pub(super) async fn get(State(api): State<Arc<Api>>) -> Result<impl IntoResponse, ApiError> {
    let backlog = api.backlog.get(async { Ok(api.store.backlog().await?) }).await?;
    Ok(([(header::CONTENT_TYPE, TEXT)], metrics::render(&backlog)))
}
