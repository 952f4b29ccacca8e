//! The parts of the running service: started together, stopped in order.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::api::{self, Api, ConnectionLimits};
use crate::config::Config;
use crate::deliver::Sender;
use crate::model::cause::chain;
use crate::worker::{Instance, Stages, Worker};

/// What each part of the service gets to end in, however long the others took.
const MOMENT: Duration = Duration::from_secs(1);

/// The parts of the service, at work.
pub(super) struct Running {
    api: Arc<Api>,
    instance: Arc<Instance>,
    working: JoinHandle<()>,
    sending: Part,
    serving: Part,
    stop_work: CancellationToken,
}

/// A part that ends in its own time when it is told to stop, and at once when it is cut off.
struct Part {
    task: JoinHandle<()>,
    stop: CancellationToken,
    cut_off: CancellationToken,
}

impl Running {
    pub fn start(
        listener: TcpListener,
        api: Arc<Api>,
        worker: Worker<Stages>,
        sender: Sender,
        config: &Config,
        broken: &CancellationToken,
    ) -> Self {
        let (instance, stop_work) = (worker.instance(), CancellationToken::new());
        let limits = ConnectionLimits::new(&config.limits);
        let router = api::router(api.clone());
        Self {
            api,
            instance,
            working: start(broken, worker.run(stop_work.clone())),
            sending: Part::start(broken, |stop, cut_off| sender.run(stop, cut_off)),
            serving: Part::start(broken, |stop, cut_off| api::serve(listener, router, limits, stop, cut_off)),
            stop_work,
        }
    }

    /// Jobs can be read, and a POST gets its 503, until the work has ended.
    pub async fn shut_down(self, grace: Duration) -> anyhow::Result<()> {
        let deadline = Instant::now() + grace;
        self.api.draining.cancel();
        self.stop_work.cancel();
        let worked = self.working.await;
        // The last jobs may have left messages; the next start sends what does not arrive now.
        let sent = self.sending.end(deadline).await;
        if sent.is_ok()
            && let Err(error) = tokio::task::spawn_blocking(move || self.instance.end()).await?
        {
            tracing::warn!(error = chain(&error), "the next start will take this process for killed");
        }
        self.serving.end(deadline).await.context("the API ended unexpectedly")?;
        worked.context("the worker ended unexpectedly")?;
        sent.context("the sender ended unexpectedly")?;
        self.api.tasks.close();
        let deadline = deadline.max(Instant::now() + MOMENT);
        if tokio::time::timeout_at(deadline, self.api.tasks.wait()).await.is_err() {
            tracing::warn!("requests whose clients are gone did not end in time");
        }
        Ok(())
    }
}

impl Part {
    fn start<F: Future<Output = ()> + Send + 'static>(
        broken: &CancellationToken,
        part: impl FnOnce(CancellationToken, CancellationToken) -> F,
    ) -> Self {
        let [stop, cut_off] = std::array::from_fn(|_| CancellationToken::new());
        Self { task: start(broken, part(stop.clone(), cut_off.clone())), stop, cut_off }
    }

    /// Tells it to stop and waits until `deadline`, and a moment where that is over already; then
    /// cuts it off.
    async fn end(mut self, deadline: Instant) -> Result<(), JoinError> {
        self.stop.cancel();
        let deadline = deadline.max(Instant::now() + MOMENT);
        match tokio::time::timeout_at(deadline, &mut self.task).await {
            Ok(ended) => ended,
            Err(_) => {
                self.cut_off.cancel();
                self.task.await
            }
        }
    }
}

/// Starts a part of the service. Without any of them the rest would only seem to work, so its
/// end, however it comes, fires `broken`.
pub(super) fn start(
    broken: &CancellationToken,
    part: impl Future<Output = ()> + Send + 'static,
) -> JoinHandle<()> {
    let ended = broken.clone().drop_guard();
    tokio::spawn(async move {
        let _ended = ended;
        part.await;
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longer than anything here takes, on a busy machine too.
    const PATIENCE: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn the_end_of_a_part_is_noticed_however_it_comes() {
        let broken = CancellationToken::new();
        let running = start(&broken, std::future::pending());
        tokio::task::yield_now().await;
        assert!(!broken.is_cancelled());
        let panicked = start(&broken, async { panic!("a defect") });
        tokio::time::timeout(PATIENCE, broken.cancelled()).await.expect("is noticed");
        assert!(panicked.await.is_err());
        running.abort();

        let broken = CancellationToken::new();
        start(&broken, async {});
        tokio::time::timeout(PATIENCE, broken.cancelled()).await.expect("is noticed");
    }
}
