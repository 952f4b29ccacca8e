//! Answers to what is no request.
//!
//! The HTTP library answers a head that it cannot read by itself, with a bare status line,
//! and then closes the connection. Here that line becomes the error envelope, and the rest of
//! what the client sends is read for a moment, because a connection closed on unread data is
//! reset, and the reset can overtake the answer.
//!
//! What the library says by itself is told from our answers by its moment: it is written while
//! the [`Exchange`] is quiet. A head that a client sent right behind another one, before the
//! answer to that was written, may get the bare line: both can then arrive here as one piece,
//! and nothing is taken out of the middle of one.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::envelope;
use super::error::ApiError;
use super::exchange::Exchange;
use super::linger::{LINGER, LINGER_BYTES};
use crate::model::id::RequestId;

/// Size of the pieces in which unwanted bytes are read.
const PIECE_BYTES: usize = 16 * 1024;

/// The path in the envelope: none could be read.
const NO_PATH: &str = "-";

/// A stream on which the library's own answers are replaced by ours.
pub(super) struct Refusing<S> {
    stream: S,
    exchange: Exchange,
    /// Our answer, as far as it has not been written; absent where none was needed.
    answer: Option<Vec<u8>>,
    lingering: Option<Lingering>,
}

struct Lingering {
    over: Pin<Box<Sleep>>,
    left_bytes: usize,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Refusing<S> {
    /// `exchange` is kept by whoever answers requests.
    pub fn new(stream: S, exchange: Exchange) -> Self {
        Self { stream, exchange, answer: None, lingering: None }
    }

    /// Takes the library's answer out of what is written.
    fn replaces(&mut self, bytes: &[u8]) -> bool {
        if !self.exchange.is_quiet() {
            return false;
        }
        let Some(status) = status_of(bytes) else { return false };
        self.answer = Some(answer(status));
        true
    }

    fn poll_write_answer(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(answer) = &mut self.answer else { return Poll::Ready(Ok(())) };
        while !answer.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, answer))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            answer.drain(..written);
        }
        Poll::Ready(Ok(()))
    }

    /// Reads what nobody wants until the client has stopped sending or the patience ends.
    fn poll_linger(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let lingering = self
            .lingering
            .get_or_insert_with(|| Lingering { over: Box::pin(sleep(LINGER)), left_bytes: LINGER_BYTES });
        let mut piece = [0; PIECE_BYTES];
        loop {
            if lingering.over.as_mut().poll(context).is_ready() || lingering.left_bytes == 0 {
                return Poll::Ready(Ok(()));
            }
            let mut buffer = ReadBuf::new(&mut piece);
            let read = ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            lingering.left_bytes = lingering.left_bytes.saturating_sub(buffer.filled().len());
        }
    }
}

fn status_of(answer: &[u8]) -> Option<StatusCode> {
    let digits = answer.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    StatusCode::from_bytes(digits).ok()
}

fn answer(status: StatusCode) -> Vec<u8> {
    let message = match status {
        StatusCode::BAD_REQUEST => {
            "The request must be valid HTTP/1.1, with characters such as spaces and braces \
             percent-encoded in its address"
        }
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
            "The head of the request is too large: at most 100 header lines and 64 KiB are read"
        }
        _ => status.canonical_reason().unwrap_or("The request cannot be read"),
    };
    let request_id = RequestId::new();
    let body = envelope::body(&ApiError::new(status, message), NO_PATH, &request_id);
    tracing::info!(status = status.as_u16(), request_id = request_id.0, "no request");
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         x-request-id: {id}\r\nx-aipi-call-id: {id}\r\nconnection: close\r\n\r\n{body}",
        body.len(),
        id = request_id.0,
    )
    .into_bytes()
}

impl<S: AsyncRead + Unpin> AsyncRead for Refusing<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Refusing<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.replaces(bytes) {
            return Poll::Ready(Ok(bytes.len()));
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Some(first) = pieces.first().filter(|first| self.replaces(first)) {
            return Poll::Ready(Ok(first.len()));
        }
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_write_answer(context))?;
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        self.exchange.flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.lingering.is_none() {
            ready!(self.poll_write_answer(context))?;
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
        }
        if self.answer.is_some() { self.poll_linger(context) } else { Poll::Ready(Ok(())) }
    }
}
