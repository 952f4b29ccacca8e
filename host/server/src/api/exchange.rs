//! Whether a connection is between two exchanges: no request is being answered, and every
//! byte of earlier answers is on its way. What is written then is not from us.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http_body::{Frame, SizeHint};

/// Nothing has been asked, or everything has been answered.
const QUIET: u8 = 0;
/// A request is being answered.
const BUSY: u8 = 1;
/// The library has taken the end of an answer, and may not have written it.
const UNWRITTEN: u8 = 2;

/// Counts the times at which connections became quiet.
static QUIET_TIMES: AtomicU64 = AtomicU64::new(0);

/// Where one connection stands. Shared by the stream and the service of that connection, which
/// run in one task.
#[derive(Debug, Clone)]
pub(super) struct Exchange(Arc<Standing>);

#[derive(Debug)]
struct Standing {
    stage: AtomicU8,
    quiet_since: AtomicU64,
}

impl Exchange {
    /// That of a new connection.
    pub fn new() -> Self {
        let quiet_since = AtomicU64::new(next_time());
        Self(Arc::new(Standing { stage: AtomicU8::new(QUIET), quiet_since }))
    }

    /// A request has arrived.
    pub fn begin(&self) {
        self.0.stage.store(BUSY, Ordering::Release);
    }

    /// Tells who has been quiet for longer: that one's number is smaller.
    pub fn quiet_since(&self) -> u64 {
        self.0.quiet_since.load(Ordering::Acquire)
    }

    /// The answer is complete once its body has been given up by the library.
    pub fn answer(&self, body: Body) -> Body {
        Body::new(Answer { body, exchange: self.clone() })
    }

    /// The library has nothing left to write.
    pub fn flushed(&self) {
        // Fails in the middle of an answer, which is not over by being flushed.
        let ended = self.0.stage.compare_exchange(UNWRITTEN, QUIET, Ordering::AcqRel, Ordering::Acquire);
        if ended.is_ok() {
            self.0.quiet_since.store(next_time(), Ordering::Release);
        }
    }

    /// Whether what is written now belongs to no answer of ours.
    pub fn is_quiet(&self) -> bool {
        self.0.stage.load(Ordering::Acquire) == QUIET
    }
}

fn next_time() -> u64 {
    QUIET_TIMES.fetch_add(1, Ordering::Relaxed)
}

struct Answer {
    body: Body,
    exchange: Exchange,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.exchange.0.stage.store(UNWRITTEN, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_before_and_between_answers_it_is_quiet() {
        let exchange = Exchange::new();
        let quiet_since = exchange.quiet_since();
        assert!(exchange.is_quiet());
        exchange.begin();
        exchange.flushed();
        assert!(!exchange.is_quiet(), "an answer is being made");
        let body = exchange.answer(Body::from("x"));
        assert_eq!(body.size_hint().exact(), Some(1));
        exchange.flushed();
        assert!(!exchange.is_quiet(), "a part of it was written");
        drop(body);
        assert!(!exchange.is_quiet(), "its end may not have been written");
        assert_eq!(exchange.quiet_since(), quiet_since);
        exchange.flushed();
        assert!(exchange.is_quiet() && exchange.quiet_since() > quiet_since);
    }
}
