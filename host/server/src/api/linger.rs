//! Request bodies that are answered before they have been read.
//!
//! A connection that is closed on unread data is reset, and the reset can overtake the
//! answer. So what is left of a body is read and thrown away for a moment after it has been
//! dropped, within limits; then the connection ends.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, HttpBody};
use axum::extract::Request;
use axum::http::header;
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use tokio_util::task::TaskTracker;

/// Longest time that is spent on reading what nobody wants.
pub(super) const LINGER: Duration = Duration::from_secs(5);

/// Most bytes that are read for nothing.
pub(super) const LINGER_BYTES: usize = 64 * 1024 * 1024;

/// What became of a request's body.
pub(super) struct BodyState(Arc<AtomicBool>);

impl BodyState {
    /// Whether the body was dropped before its end.
    pub fn was_left_unread(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Makes sure that the client can read the answer, however early it comes.
pub(super) fn watch(request: Request, tasks: &TaskTracker) -> (Request, BodyState) {
    let left_unread = Arc::new(AtomicBool::new(false));
    // A client that waits for permission to send has sent nothing that could stand in the way.
    let waits_for_permission = request.headers().contains_key(header::EXPECT);
    let flag = left_unread.clone();
    let tasks = tasks.clone();
    let request = request.map(|body| {
        if body.is_end_stream() {
            return body;
        }
        Body::from_stream(Watched {
            body: Some(body.into_data_stream()),
            was_polled: !waits_for_permission,
            left_unread: flag,
            tasks,
        })
    });
    (request, BodyState(left_unread))
}

struct Watched {
    /// Absent after its end.
    body: Option<BodyDataStream>,
    was_polled: bool,
    left_unread: Arc<AtomicBool>,
    tasks: TaskTracker,
}

impl Stream for Watched {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.was_polled = true;
        let Some(body) = self.body.as_mut() else { return Poll::Ready(None) };
        let polled = body.poll_next_unpin(context);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.body = None;
        }
        polled
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let Some(body) = self.body.take() else { return };
        self.left_unread.store(true, Ordering::Release);
        if self.was_polled {
            self.tasks.spawn(tokio::time::timeout(LINGER, drain(body)));
        }
    }
}

async fn drain(mut body: BodyDataStream) {
    let mut left = LINGER_BYTES;
    while let Some(Ok(piece)) = body.next().await {
        left = left.saturating_sub(piece.len());
        if left == 0 {
            return;
        }
    }
}
