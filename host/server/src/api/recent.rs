//! An answer that is good for a second: what costs a disk write or a count over many rows is not
//! done as often as anybody without a key may ask.

use std::time::{Duration, Instant};

use tokio::sync::Mutex;

/// How long an answer is given again.
const KEPT: Duration = Duration::from_secs(1);

/// The last answer.
pub(super) struct Recent<T>(Mutex<Option<(Instant, T)>>);

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Clone> Recent<T> {
    /// The last answer; when it is too old a new one, for which all who ask meanwhile wait.
    pub async fn get(&self, ask: impl Future<Output = T>) -> T {
        let mut last = self.0.lock().await;
        if let Some((at, answer)) = &*last
            && at.elapsed() < KEPT
        {
            return answer.clone();
        }
        let answer = ask.await;
        *last = Some((Instant::now(), answer.clone()));
        answer
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use futures_util::future::join_all;

    use super::*;

    #[tokio::test]
    async fn many_who_ask_within_a_second_get_one_answer() {
        let (recent, asked) = (Recent::default(), AtomicU32::new(0));
        let ask = || {
            recent.get(async {
                tokio::time::sleep(Duration::from_millis(10)).await;
                asked.fetch_add(1, Ordering::Relaxed)
            })
        };
        assert_eq!(join_all((0..20).map(|_| ask())).await, [0; 20]);
        tokio::time::sleep(KEPT).await;
        assert_eq!(ask().await, 1);
    }
}
