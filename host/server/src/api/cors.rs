//! Cross-origin requests: what a browser needs to be told before a page of another origin may
//! call this API.
//!
//! Nothing is said to anybody unless the operator has named origins. Cookies play no part
//! here, so that credentials are never allowed. The operator's own paths stay closed: an
//! admin's key has no business in a page. Answers to what is no HTTP request at all have no
//! such headers, because no origin could be read.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, Method, header};
use tower_http::cors::{AllowOrigin, CorsLayer};

use super::state::Api;
use super::{idempotency, observe};

/// How long a browser may remember a permission; none keeps it for longer than a day, some
/// for two hours at most.
const REMEMBERED: Duration = Duration::from_secs(2 * 60 * 60);

/// Paths without any permission, with all below them.
const CLOSED: [&str; 2] = ["/v2/admin", "/metrics"];

/// Headers of requests beside those that hold the key.
const SENT: [HeaderName; 7] = [
    header::CONTENT_TYPE,
    header::RANGE,
    header::IF_RANGE,
    HeaderName::from_static(idempotency::HEADER),
    HeaderName::from_static(observe::CLIENT_HEADER),
    HeaderName::from_static("traceparent"),
    HeaderName::from_static("tracestate"),
];

/// Headers of answers that a page may read beside those that every page may read.
const READ: [HeaderName; 7] = [
    header::RETRY_AFTER,
    header::CONTENT_RANGE,
    header::ACCEPT_RANGES,
    header::CONTENT_DISPOSITION,
    header::ETAG,
    HeaderName::from_static("x-request-id"),
    HeaderName::from_static("x-aipi-call-id"),
];

/// Answers preflights and marks all other answers; `None` where no origin is allowed.
pub(super) fn layer(api: &Api) -> Option<CorsLayer> {
    let cors = api.settings.cors.clone();
    if cors.allowed_origins.is_empty() {
        return None;
    }
    // Checked by the configuration to be names of headers.
    let of_keys = api.keys.headers().iter().filter_map(|name| HeaderName::try_from(name).ok());
    let may_read = move |origin: &HeaderValue, path: &str| {
        !is_closed(path) && origin.to_str().is_ok_and(|origin| cors.allows(origin))
    };
    let layer = CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(move |origin, parts| may_read(origin, parts.uri.path())))
        .allow_methods([Method::GET, Method::HEAD, Method::POST, Method::PATCH, Method::DELETE])
        .allow_headers(of_keys.chain(SENT).collect::<Vec<_>>())
        .expose_headers(READ)
        .max_age(REMEMBERED);
    Some(layer)
}

fn is_closed(path: &str) -> bool {
    CLOSED
        .iter()
        .any(|closed| path.strip_prefix(closed).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}
