//! A connection whose client does not take what it is sent.
//!
//! Without a limit, a client that asks for a large file and then reads nothing would keep
//! its place for ever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// A stream whose writes fail once they have stood still for `patience`.
pub(super) struct Impatient<S> {
    stream: S,
    patience: Duration,
    stalled: Pin<Box<Sleep>>,
    is_stalled: bool,
}

impl<S> Impatient<S> {
    pub fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, stalled: Box::pin(sleep(patience)), is_stalled: false }
    }

    /// Passes an outcome on; starts the clock when it is "not yet", ends it otherwise.
    fn watch<T>(&mut self, outcome: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.is_stalled = false;
            return outcome;
        }
        if !self.is_stalled {
            self.is_stalled = true;
            self.stalled.as_mut().reset(Instant::now() + self.patience);
        }
        ready!(self.stalled.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Impatient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Impatient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(outcome, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.watch(outcome, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_flush(context);
        self.watch(outcome, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn a_reader_may_be_slow_but_not_stand_still() {
        let (ours, mut theirs) = tokio::io::duplex(10);
        let mut ours = Impatient::new(ours, Duration::from_secs(2));
        let writing = tokio::spawn(async move { ours.write_all(&[7; 100]).await });
        let mut piece = [0; 10];
        for _ in 0..4 {
            // Longer than the limit in all, and far from it each time, also on a busy machine.
            tokio::time::sleep(Duration::from_millis(600)).await;
            theirs.read_exact(&mut piece).await.unwrap();
        }
        let outcome = writing.await.unwrap();
        assert_eq!(outcome.map_err(|error| error.kind()), Err(io::ErrorKind::TimedOut));
    }
}
