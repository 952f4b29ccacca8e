//! What an operator decides about the worker.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// Settings of one worker.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Jobs that compute at a time.
    pub slots: usize,
    /// Jobs that are fetched, or wait for a slot, at a time.
    pub fetches: usize,
    /// Of those, jobs of one account.
    pub fetches_per_account: usize,
    /// How long a claim holds without a sign of life.
    pub lease_time: Duration,
    /// How long after its receipt a job is tried again when others fail; zero: no job is.
    pub retry_horizon: Duration,
    /// How long a shutdown waits for running jobs before it releases them.
    pub shutdown_grace: Duration,
    /// Longest pause between two looks at the queue.
    pub poll_pause: Duration,
    /// Folder of decoded audio.
    pub scratch_dir: PathBuf,
    /// Folder in which worker processes announce themselves.
    pub instances_dir: PathBuf,
}

impl Settings {
    /// Defaults over a data folder.
    pub fn in_folder(data_dir: &Path) -> Self {
        Self {
            slots: 2,
            fetches: 64,
            fetches_per_account: 16,
            lease_time: Duration::from_secs(30),
            retry_horizon: Duration::from_secs(2 * 3600),
            shutdown_grace: Duration::from_secs(20),
            poll_pause: Duration::from_millis(500),
            scratch_dir: data_dir.join("scratch"),
            instances_dir: data_dir.join("instances"),
        }
    }
}
