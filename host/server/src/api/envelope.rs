//! The body of every 4xx and 5xx answer.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::error::ApiError;
use crate::model::date;
use crate::model::id::RequestId;

/// Puts the error envelope into an answer that failed; others pass unchanged. Failures that
/// no handler made, such as an unknown path, get the usual words for their status.
pub(super) fn fill(response: Response, path: &str, request_id: &RequestId) -> Response {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return response;
    }
    let error = response.extensions().get::<ApiError>().cloned().unwrap_or_else(|| usual(status));
    let (mut parts, _) = response.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Response::from_parts(parts, Body::from(body(&error, path, request_id)))
}

/// What every request that fails is answered with.
#[derive(Serialize, ToSchema)]
#[schema(as = Error)]
pub(super) struct ErrorBody<'a> {
    #[schema(format = "date-time")]
    timestamp: String,
    /// Path that was asked for.
    path: &'a str,
    /// Names the request when asking the operator about it.
    request_id: &'a str,
    /// The HTTP status.
    #[serde(rename = "statusCode")]
    status_code: u16,
    message: &'a str,
    /// What to change, one entry per field, as `<dotted.path> must ...` or `<path> is
    /// required`; with 400 and 422.
    #[serde(skip_serializing_if = "Option::is_none")]
    validation_errors: Option<Vec<&'a str>>,
}

/// The envelope as text.
pub(super) fn body(error: &ApiError, path: &str, request_id: &RequestId) -> String {
    let has_entries = matches!(error.status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY);
    let entries = match &error.entries[..] {
        [] => vec![&*error.message],
        entries => entries.iter().map(String::as_str).collect(),
    };
    let body = ErrorBody {
        timestamp: date::iso(date::now_ms()),
        path,
        request_id: &request_id.0,
        status_code: error.status.as_u16(),
        message: &error.message,
        validation_errors: has_entries.then_some(entries),
    };
    serde_json::to_string(&body).expect("text and numbers can be written")
}

fn usual(status: StatusCode) -> ApiError {
    let message = match status {
        StatusCode::NOT_FOUND => "Path not found",
        StatusCode::METHOD_NOT_ALLOWED => "Method not allowed on this path",
        _ => status.canonical_reason().unwrap_or("Request failed"),
    };
    ApiError::new(status, message)
}
