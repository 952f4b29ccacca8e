//! The body of every 4xx and 5xx answer.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::json;

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

/// The envelope as text.
pub(super) fn body(error: &ApiError, path: &str, request_id: &RequestId) -> String {
    let mut envelope = json!({
        "timestamp": date::iso(date::now_ms()),
        "path": path,
        "request_id": request_id,
        "statusCode": error.status.as_u16(),
        "message": error.message,
    });
    if matches!(error.status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY) {
        let entries =
            if error.entries.is_empty() { vec![error.message.clone()] } else { error.entries.clone() };
        envelope["validation_errors"] = json!(entries);
    }
    envelope.to_string()
}

fn usual(status: StatusCode) -> ApiError {
    let message = match status {
        StatusCode::NOT_FOUND => "Path not found",
        StatusCode::METHOD_NOT_ALLOWED => "Method not allowed on this path",
        _ => status.canonical_reason().unwrap_or("Request failed"),
    };
    ApiError::new(status, message)
}
