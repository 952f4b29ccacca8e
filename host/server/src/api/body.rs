//! Request bodies within limits of size and time.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use bytes::Bytes;
use futures_util::stream::{Stream, StreamExt, unfold};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::error::ApiError;
use crate::config::Limits;
use crate::validate;

/// How much of a body is taken, and for how long.
#[derive(Debug, Clone, Copy)]
pub(super) struct BodyLimits {
    pub size_bytes: u64,
    /// For the whole body.
    pub total: Duration,
    /// Between two pieces of it.
    pub pause: Duration,
}

impl BodyLimits {
    /// For JSON bodies.
    pub fn json(limits: &Limits) -> Self {
        let time = Duration::from_secs(limits.body_timeout_s);
        Self { size_bytes: limits.json_body_bytes, total: time, pause: time }
    }
}

/// Why the rest of a body was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyFault {
    TooLarge { limit_bytes: u64 },
    TooSlow,
    Broken,
}

impl From<BodyFault> for ApiError {
    fn from(fault: BodyFault) -> Self {
        match fault {
            BodyFault::TooLarge { limit_bytes } => Self::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("The body must not be larger than {limit_bytes} bytes"),
            ),
            BodyFault::TooSlow => Self::new(StatusCode::REQUEST_TIMEOUT, "The body did not arrive in time"),
            BodyFault::Broken => Self::invalid_one("body must arrive completely"),
        }
    }
}

/// The fault that ended a limited body, for a reader that sees only an I/O error.
#[derive(Debug, Clone, Default)]
pub(super) struct FaultCell(Arc<OnceLock<BodyFault>>);

impl FaultCell {
    pub fn get(&self) -> Option<BodyFault> {
        self.0.get().copied()
    }
}

/// Refuses a body that announces more than is allowed, before any of it is read.
pub(super) fn check_announced(headers: &HeaderMap, limit_bytes: u64) -> Result<(), BodyFault> {
    let announced =
        headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    match announced {
        Some(size_bytes) if size_bytes > limit_bytes => Err(BodyFault::TooLarge { limit_bytes }),
        _ => Ok(()),
    }
}

/// The body in pieces; it ends with an error when it passes a limit.
pub(super) fn limited(
    body: Body,
    limits: BodyLimits,
) -> (impl Stream<Item = io::Result<Bytes>> + Send, FaultCell) {
    let cell = FaultCell::default();
    let reading = Reading {
        body: body.into_data_stream(),
        left_bytes: limits.size_bytes,
        limits,
        deadline: Instant::now() + limits.total,
        fault: cell.clone(),
    };
    (unfold(reading, |mut reading| async move { Some((reading.next().await?, reading)) }), cell)
}

struct Reading {
    body: BodyDataStream,
    left_bytes: u64,
    limits: BodyLimits,
    deadline: Instant,
    fault: FaultCell,
}

impl Reading {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        if self.fault.get().is_some() {
            return None;
        }
        let until = self.deadline.min(Instant::now() + self.limits.pause);
        let piece = match tokio::time::timeout_at(until, self.body.next()).await {
            Ok(None) => return None,
            Ok(Some(Ok(piece))) => piece,
            Ok(Some(Err(_))) => return Some(self.end(BodyFault::Broken)),
            Err(_) => return Some(self.end(BodyFault::TooSlow)),
        };
        match self.left_bytes.checked_sub(piece.len() as u64) {
            Some(left) => self.left_bytes = left,
            None => return Some(self.end(BodyFault::TooLarge { limit_bytes: self.limits.size_bytes })),
        }
        Some(Ok(piece))
    }

    fn end(&self, fault: BodyFault) -> io::Result<Bytes> {
        // The first fault is the cause.
        let _ = self.fault.0.set(fault);
        Err(io::Error::other("the body ended early"))
    }
}

/// Whether the request says that its body is of this media type.
pub(super) fn has_media_type(headers: &HeaderMap, wanted: &str) -> bool {
    let sent = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    sent.split(';').next().is_some_and(|sent| sent.trim().eq_ignore_ascii_case(wanted))
}

/// Refuses a body that is packed: it would have to be unpacked before its size is known.
pub(super) fn check_encoding(headers: &HeaderMap) -> Result<(), ApiError> {
    let is_plain = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    match headers.get_all(header::CONTENT_ENCODING).iter().all(is_plain) {
        true => Ok(()),
        false => Err(ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "The body must be sent without content-encoding",
        )),
    }
}

/// Refuses a body in a transfer coding other than chunked, which alone is taken off on arrival
/// (RFC 9112, section 6.1).
pub(super) fn check_transfer(headers: &HeaderMap) -> Result<(), ApiError> {
    let sent = headers.get_all(header::TRANSFER_ENCODING);
    let codings: Vec<&[u8]> = sent
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        .collect();
    let is_chunked = |coding: &&[u8]| coding.eq_ignore_ascii_case(b"chunked");
    if !codings.iter().all(is_chunked) {
        let message = "Of transfer-encoding only chunked is understood; send the body without another coding";
        return Err(ApiError::new(StatusCode::NOT_IMPLEMENTED, message));
    }
    match codings.len() {
        0 | 1 => Ok(()),
        _ => Err(ApiError::new(StatusCode::BAD_REQUEST, "transfer-encoding must name chunked once")),
    }
}

/// Reads a JSON object.
pub(super) async fn json_object(request: Request, limits: &Limits) -> Result<Map<String, Value>, ApiError> {
    if !has_media_type(request.headers(), "application/json") {
        return Err(ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "The content type must be application/json",
        ));
    }
    check_encoding(request.headers())?;
    let limits = BodyLimits::json(limits);
    check_announced(request.headers(), limits.size_bytes)?;
    let (pieces, fault) = limited(request.into_body(), limits);
    let mut pieces = std::pin::pin!(pieces);
    let mut bytes = Vec::new();
    while let Some(Ok(piece)) = pieces.next().await {
        bytes.extend_from_slice(&piece);
    }
    match fault.get() {
        Some(fault) => Err(fault.into()),
        None => Ok(validate::object(&bytes)?),
    }
}
