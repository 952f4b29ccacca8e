//! Long computations on threads of their own, stopped by a token; and calls to the file system.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_util::sync::CancellationToken;

use super::failure::{Failure, Stop};
use crate::model::code::Code;

/// Raises the flag when the caller goes away, so that the thread does not work for nobody.
struct Flag(Arc<AtomicBool>);

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` where it may block. Its flag is raised when `cancel` fires; the thread is
/// waited for all the same. A panic in it is a failure of ours.
pub async fn blocking<T, E>(
    cancel: &CancellationToken,
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T, E> + Send + 'static,
) -> Result<T, Stop>
where
    T: Send + 'static,
    E: Into<Stop> + Send + 'static,
{
    let flag = Flag(Arc::new(AtomicBool::new(false)));
    let seen = flag.0.clone();
    let mut thread = tokio::task::spawn_blocking(move || work(&seen));
    let ended = tokio::select! {
        ended = &mut thread => ended,
        () = cancel.cancelled() => {
            flag.0.store(true, Ordering::Relaxed);
            thread.await
        }
    };
    match ended {
        Ok(outcome) => outcome.map_err(Into::into),
        Err(error) => Err(Failure::plain(Code::Internal, panic_place(error)).into()),
    }
}

/// Calls the file system where it may block.
pub async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.unwrap_or_else(|error| Err(io::Error::other(panic_place(error))))
}

/// What a panic says may be transcript text; only the fact is kept.
fn panic_place(error: tokio::task::JoinError) -> &'static str {
    if error.is_panic() { "a thread of the work panicked" } else { "a thread of the work was aborted" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_sees_the_token_and_panics_become_failures() {
        let cancel = CancellationToken::new();
        let done = blocking(&cancel, |_| Ok::<_, Stop>(7)).await;
        assert!(matches!(done, Ok(7)));
        let panicked = blocking(&cancel, |_| -> Result<(), Stop> { panic!("secret") }).await;
        let Err(Stop::Failed(failure)) = panicked else { panic!("no failure") };
        assert!(!format!("{failure:?}").contains("secret"));
        let stopper = cancel.clone();
        let waiting = blocking(&cancel, move |flag| {
            stopper.cancel();
            while !flag.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            Err::<(), _>(Stop::Cancelled)
        });
        assert!(matches!(waiting.await, Err(Stop::Cancelled)));
    }
}
