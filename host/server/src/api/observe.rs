//! The outermost layer: gives each request an id, answers for panics, writes the error
//! envelope, and logs one line without anything private.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use tracing::field::Empty;
use tracing::{Instrument, Span};

use super::body::check_transfer;
use super::envelope;
use super::error::ApiError;
use super::linger;
use super::peer::Peer;
use super::router::route_of;
use super::state::Api;
use crate::model::id::RequestId;
use crate::{metrics, telemetry};

/// The header by which the clients of this wire format say who they are.
pub(super) const CLIENT_HEADER: &str = "x-gladia-version";

/// Wraps everything else.
pub(super) async fn observe(State(api): State<Arc<Api>>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let request_id = RequestId::new();
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    // The template and not the path: what a client types there is its own business.
    let route = route_of(&path);
    let client = client(request.headers());
    request.extensions_mut().insert(request_id.clone());

    let (request, body_state) = linger::watch(request, &api.tasks);
    let span = span(&method, route, &request_id, request.headers());
    let response = answer(&api, request, next).instrument(span.clone()).await;
    let mut response = envelope::fill(response, &path, &request_id);
    put_headers(response.headers_mut(), &request_id);
    if body_state.was_left_unread() {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if let Some(error) = response.extensions().get::<ApiError>() {
        error.log(&request_id.0);
    }
    let status = response.status().as_u16();
    span.record("http.response.status_code", status);
    if response.status().is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
    metrics::request_answered(route, known(&method), status, started.elapsed());
    tracing::info!(
        method = %method,
        path = route,
        status,
        ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        request_id = request_id.0,
        client,
        "request"
    );
    response
}

/// A span of the client's trace, if it names one. What asks after our health again and again
/// has none.
fn span(method: &Method, route: &str, request_id: &RequestId, headers: &HeaderMap) -> Span {
    if !route.starts_with("/v2") && !route.starts_with("/file") {
        return Span::none();
    }
    let method = known(method);
    let span = tracing::info_span!(
        "request",
        otel.name = format!("{method} {route}"),
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
        request.id = request_id.0,
    );
    telemetry::adopt(&span, headers.get("traceparent").and_then(|value| value.to_str().ok()));
    span
}

async fn answer(api: &Api, request: Request, next: Next) -> Response {
    if api.draining.is_cancelled() && request.method() == Method::POST {
        return ApiError::stopping().into_response();
    }
    if !has_one_host(&request) {
        return ApiError::new(StatusCode::BAD_REQUEST, "The request must have one Host header")
            .into_response();
    }
    if let Err(error) = check_transfer(request.headers()) {
        return error.into_response();
    }
    match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => response,
        // The panic hook has logged where.
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Links are made from it, so that it must not depend on the reader which one counts (RFC 9112,
/// section 3.2).
fn has_one_host(request: &Request) -> bool {
    match request.headers().get_all(header::HOST).iter().count() {
        0 => request.version() < Version::HTTP_11 || request.extensions().get::<Peer>().is_none(),
        count => count == 1,
    }
}

/// Client libraries look for either name.
fn put_headers(headers: &mut HeaderMap, request_id: &RequestId) {
    let value = HeaderValue::from_str(&request_id.0).expect("a request id is hex");
    headers.insert("x-request-id", value.clone());
    headers.insert("x-aipi-call-id", value);
}

/// The method as a label: a client can invent others without end.
fn known(method: &Method) -> &'static str {
    let usual = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
    let names = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
    usual.iter().zip(names).find(|(usual, _)| *usual == method).map_or("other", |(_, name)| name)
}

/// What the client calls itself, cut and stripped of what could disturb a log.
fn client(headers: &HeaderMap) -> String {
    let text = headers.get(CLIENT_HEADER).and_then(|value| value.to_str().ok()).unwrap_or("-");
    text.chars().filter(|c| c.is_ascii_graphic()).take(64).collect()
}
