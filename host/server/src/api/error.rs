//! Everything that ends a request early, as status and message for the client.
//!
//! The body is written by the outermost layer, which knows the path and the request id.

use std::error::Error;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::blob::BlobError;
use crate::model::cause::chain;
use crate::model::code::Code;
use crate::store::{Refusal, StoreError};
use crate::validate::Rejection;

/// How long a client waits before it comes back to a service that is busy or stopping.
const RETRY_AFTER_S: u64 = 5;

/// How long a client waits that has no credits left: only the operator can change that.
const NO_CREDITS_S: u64 = 3600;

/// A refused or failed request. Messages hold no paths, addresses or causes of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    pub(super) status: StatusCode,
    pub(super) message: String,
    /// What to change, field by field; filled for 400 and 422.
    pub(super) entries: Vec<String>,
    retry_after_s: Option<u64>,
    /// What failed on our side, for the log alone.
    cause: Option<String>,
}

impl ApiError {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let busy = matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
        Self {
            status,
            message: message.into(),
            entries: Vec::new(),
            retry_after_s: busy.then_some(RETRY_AFTER_S),
            cause: None,
        }
    }

    /// 400 with the fields to change.
    pub(super) fn invalid(entries: Vec<String>) -> Self {
        Self { entries, ..Self::new(StatusCode::BAD_REQUEST, "Invalid parameter(s)") }
    }

    /// 400 with one field to change.
    pub(super) fn invalid_one(entry: impl Into<String>) -> Self {
        Self::invalid(vec![entry.into()])
    }

    /// 404.
    pub(super) fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("{what} not found"))
    }

    /// 429 until the client may come back.
    pub(super) fn too_many(message: &str, retry_after_s: u64) -> Self {
        let error = Self::new(StatusCode::TOO_MANY_REQUESTS, message);
        Self { retry_after_s: Some(retry_after_s), ..error }
    }

    /// 503 while the host stops.
    pub(super) fn stopping() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "The service is shutting down, try again later")
    }

    /// A failure of ours: the log gets the cause, the client does not.
    pub(super) fn failed(code: Code, cause: &(dyn Error + 'static)) -> Self {
        Self { cause: Some(chain(cause)), ..Self::of_code(code) }
    }

    /// Tells the log what failed on our side, if anything did.
    pub(super) fn log(&self, request_id: &str) {
        if let Some(cause) = &self.cause {
            tracing::error!(request_id, error = cause, "a request failed");
        }
    }

    fn of_code(code: Code) -> Self {
        let message = match code {
            Code::StorageFull => "The service has no space left, try again later",
            Code::DatabaseLocked | Code::Overloaded => "The service is busy, try again later",
            Code::ShuttingDown => return Self::stopping(),
            Code::AudioGone => return Self::not_found("File"),
            _ => return Self::internal(),
        };
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message)
    }

    /// 500 after a panic, whose place the log has.
    pub(super) fn internal() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "Internal server error")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        if let Some(seconds) = self.retry_after_s {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(self);
        response
    }
}

impl From<Rejection> for ApiError {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Invalid(entries) => Self::invalid(entries),
            Rejection::Contradictory(entries) => {
                Self { entries, ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Unprocessable parameter(s)") }
            }
        }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let (message, retry_after_s) = match refusal {
            Refusal::MarkReused => {
                let message = "The idempotency-key was used for another request within the last 24 hours";
                return Self::new(StatusCode::CONFLICT, message);
            }
            Refusal::QueueFull => ("Too many jobs are waiting, try again later", RETRY_AFTER_S),
            Refusal::AccountQueueFull => {
                ("Too many jobs of this account are waiting, try again later", RETRY_AFTER_S)
            }
            Refusal::AccountBusy => {
                ("This account has as many jobs in work as its plan allows, try again later", RETRY_AFTER_S)
            }
            Refusal::NoCredits => {
                ("The credits of this account are used up; ask the operator for another plan", NO_CREDITS_S)
            }
        };
        Self::too_many(message, retry_after_s)
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Self::failed(error.code(), &error)
    }
}

impl From<BlobError> for ApiError {
    fn from(error: BlobError) -> Self {
        Self::failed(error.code(), &error)
    }
}
