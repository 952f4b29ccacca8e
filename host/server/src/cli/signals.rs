//! What a process is told from outside.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that mean something to us, from [`Signals::listen`] on.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    pub fn listen() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Returns on SIGTERM or SIGINT; calls `reload` on SIGHUP, and breaks that off when it is told to
    /// stop meanwhile: an add-on may take long to compile.
    pub async fn stop(&mut self, reload: impl AsyncFn()) {
        let reloading = async {
            while self.hangup.recv().await.is_some() {
                reload().await;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            () = reloading => {}
        }
    }

    /// Returns on any of them.
    pub async fn any(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use super::*;

    /// Longer than anything here takes, on a busy machine too.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// Sends this process a signal; whoever waits for one is told.
    fn kill(signal: &str) {
        let ended = Command::new("kill").args([signal, &std::process::id().to_string()]).status();
        assert!(ended.expect("there is a `kill`").success());
    }

    #[tokio::test]
    async fn a_reload_that_takes_long_keeps_nobody_from_stopping() {
        let reloading = tokio::sync::Notify::new();
        let reload = async || {
            reloading.notify_one();
            std::future::pending().await
        };
        let mut signals = Signals::listen().expect("has signals");
        let mut waiting = std::pin::pin!(signals.stop(reload));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        kill("-HUP");
        tokio::select! {
            _ = &mut waiting => panic!("nobody said stop"),
            () = reloading.notified() => {}
        }
        kill("-TERM");
        tokio::time::timeout(PATIENCE, waiting).await.expect("stops");
    }
}
