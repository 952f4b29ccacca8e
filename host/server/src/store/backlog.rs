//! How much waits and runs, for metrics.

use super::error::StoreError;
use super::jobs::QueueCounts;
use super::open::Store;
use super::sqlite;

/// What is owed to clients at this moment, over all accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Recorded jobs that are not final.
    pub jobs: QueueCounts,
    /// Live jobs that are not final.
    pub live_sessions: u64,
    /// Callbacks and webhooks that wait for their next try.
    pub deliveries: u64,
}

impl Store {
    /// Counts everything that is not finished; reads only indexes of unfinished rows.
    pub async fn backlog(&self) -> Result<Backlog, StoreError> {
        let mut db = self.reader().await?;
        Ok(Backlog {
            jobs: sqlite::count_unfinished(&mut db).await?,
            live_sessions: sqlite::count_live(&mut db).await?,
            deliveries: sqlite::count_owed(&mut db).await?,
        })
    }
}
