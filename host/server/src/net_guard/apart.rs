//! The threads that talk to other hosts.
//!
//! How much work an answer makes is up to the host that sends it. hyper goes on for as long as
//! bytes are there, so that heads without end (`102 Processing`) or chunks of one byte keep a
//! thread busy for tenths of a second at a time. So each exchange has a thread and a runtime of
//! its own: the system shares the cores among them, and those that answer clients come first.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::priority;

/// Runs `work` on a thread of its own; dropped, it ends there as well. Whatever sends a request
/// to an address that a client chose belongs in here.
///
/// # Errors
/// When the system gives no thread, or no files for its runtime.
pub async fn apart<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> io::Result<T> {
    let stop = CancellationToken::new();
    let _stopped_when_dropped = stop.clone().drop_guard();
    let (ended, outcome) = oneshot::channel();
    let run = move || {
        priority::give_way(priority::OUTGOING);
        // Nobody listens when the work was dropped.
        let _ = ended.send(catch_unwind(AssertUnwindSafe(|| run(work, &stop))));
    };
    thread::Builder::new().name("outgoing".to_owned()).spawn(run)?;
    let outcome = outcome.await.expect("the thread sends before it ends");
    let outcome = outcome.unwrap_or_else(|panic| resume_unwind(panic))?;
    Ok(outcome.expect("only a dropped future stops the work"))
}

/// The outcome of `work`; `None` when `stop` fires first.
fn run<T>(work: impl Future<Output = T>, stop: &CancellationToken) -> io::Result<Option<T>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(stop.run_until_cancelled(work));
    // A resolver or a disk that hangs is not waited for.
    runtime.shutdown_background();
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_runs_on_a_thread_of_its_own_and_ends_when_it_is_dropped() {
        let name = apart(async { thread::current().name().map(str::to_owned) }).await;
        assert_eq!(name.unwrap().unwrap(), "outgoing");
        let (begun, has_begun) = oneshot::channel();
        let (held, ended) = oneshot::channel::<()>();
        let endless = apart(async move {
            let _held = held;
            begun.send(()).expect("the test listens");
            std::future::pending::<()>().await;
        });
        tokio::select! {
            _ = endless => unreachable!("it never ends by itself"),
            begun = has_begun => begun.unwrap(),
        }
        ended.await.expect_err("the work is gone and nothing was sent");
    }

    #[tokio::test]
    async fn work_that_never_yields_holds_up_no_other() {
        let (release, released) = std::sync::mpsc::channel::<()>();
        let busy = tokio::spawn(apart(async move { released.recv() }));
        assert_eq!(apart(async { 1 }).await.unwrap(), 1);
        release.send(()).unwrap();
        busy.await.unwrap().unwrap().unwrap();
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn work_gives_way_to_the_rest() {
        let nice = apart(async { rustix::process::getpriority_process(None).unwrap() }).await;
        assert_eq!(nice.unwrap(), priority::OUTGOING);
    }
}
