//! Sections of the file that hold plain numbers, with their defaults and ranges.

use serde::{Deserialize, Serialize};

use super::error::ConfigError;

/// `[limits]`: what one client may ask of the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Largest file that can be uploaded.
    pub upload_bytes: u64,
    /// Longest recording that is taken; absent: uploads of any length, jobs of 24 hours.
    pub audio_duration_s: Option<u64>,
    /// Largest JSON body.
    pub json_body_bytes: u64,
    /// Jobs that may wait; a request beyond that is answered with 429.
    pub queued_jobs: u64,
    /// Connections open at a time; further ones wait to be accepted.
    pub connections: u32,
    /// Longest time for the head of a request.
    pub header_timeout_s: u64,
    /// Longest time for a JSON body, and longest pause within an upload.
    pub body_timeout_s: u64,
    /// Longest time for a whole upload.
    pub upload_timeout_s: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            upload_bytes: 2_000_000_000,
            audio_duration_s: None,
            json_body_bytes: 2 * 1024 * 1024,
            queued_jobs: 10_000,
            connections: 1024,
            header_timeout_s: 10,
            body_timeout_s: 30,
            upload_timeout_s: 3600,
        }
    }
}

impl Limits {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        within("limits.upload_bytes", self.upload_bytes, 1, u64::MAX / 2)?;
        within("limits.audio_duration_s", self.audio_duration_s.unwrap_or(1), 1, 31_536_000)?;
        within("limits.json_body_bytes", self.json_body_bytes, 1024, 64 * 1024 * 1024)?;
        within("limits.queued_jobs", self.queued_jobs, 1, u64::MAX / 2)?;
        within("limits.connections", self.connections.into(), 1, 65_536)?;
        within("limits.header_timeout_s", self.header_timeout_s, 1, 600)?;
        within("limits.body_timeout_s", self.body_timeout_s, 1, 600)?;
        within("limits.upload_timeout_s", self.upload_timeout_s, 1, 86_400)
    }
}

/// `[worker]`: how jobs are worked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Worker {
    /// Jobs that compute at the same time.
    pub slots: u32,
    /// How long after its receipt a job is tried again when something outside fails.
    pub retry_horizon_s: u64,
    /// How long a claim holds without a sign of life.
    pub lease_s: u64,
    /// How long a shutdown waits for running work before it is released.
    pub shutdown_grace_s: u64,
}

impl Default for Worker {
    fn default() -> Self {
        Self { slots: 2, retry_horizon_s: 7200, lease_s: 30, shutdown_grace_s: 20 }
    }
}

impl Worker {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        within("worker.slots", self.slots.into(), 1, 256)?;
        // The interface promises two hours.
        within("worker.retry_horizon_s", self.retry_horizon_s, 1, 7200)?;
        within("worker.lease_s", self.lease_s, 5, 3600)?;
        within("worker.shutdown_grace_s", self.shutdown_grace_s, 0, 3600)
    }
}

/// `[speech]`: the speech engine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Speech {
    /// Threads that compute; 0: as many as the machine has.
    pub threads: u32,
}

impl Speech {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        within("speech.threads", self.threads.into(), 0, 1024)
    }
}

/// `[fetch]`: downloads of audio that a request names by URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fetch {
    /// Largest file that is fetched.
    pub max_bytes: u64,
    /// Longest time for everything, redirects included.
    pub total_timeout_s: u64,
    /// Longest time for one connection, name resolution included.
    pub connect_timeout_s: u64,
    /// Longest wait for the next bytes.
    pub idle_timeout_s: u64,
    /// Most redirects that are followed.
    pub max_redirects: u32,
    /// Jobs that are fetched, or wait for a slot, at a time.
    pub in_flight: u32,
    /// Of those, jobs of one account.
    pub in_flight_per_account: u32,
}

impl Default for Fetch {
    fn default() -> Self {
        Self {
            max_bytes: 2_000_000_000,
            total_timeout_s: 1800,
            connect_timeout_s: 10,
            idle_timeout_s: 30,
            max_redirects: 5,
            in_flight: 64,
            in_flight_per_account: 16,
        }
    }
}

impl Fetch {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        within("fetch.max_bytes", self.max_bytes, 1, u64::MAX / 2)?;
        within("fetch.total_timeout_s", self.total_timeout_s, 1, 7200)?;
        within("fetch.connect_timeout_s", self.connect_timeout_s, 1, 600)?;
        within("fetch.idle_timeout_s", self.idle_timeout_s, 1, 600)?;
        within("fetch.max_redirects", self.max_redirects.into(), 0, 20)?;
        within("fetch.in_flight", self.in_flight.into(), 1, 1024)?;
        within("fetch.in_flight_per_account", self.in_flight_per_account.into(), 1, 1024)
    }
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line, for machines.
    Json,
}

/// `[log]`: what is written to standard error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// Level, or levels by module: `info`, `tympan=debug,warn`.
    pub filter: String,
    /// `text` or `json`.
    pub format: LogFormat,
}

impl Default for Log {
    fn default() -> Self {
        Self { filter: "info".to_owned(), format: LogFormat::Text }
    }
}

pub(super) fn within(setting: &str, value: u64, least: u64, most: u64) -> Result<(), ConfigError> {
    if value < least {
        return Err(ConfigError::invalid(setting, format!("must not be less than {least}, it is {value}")));
    }
    if value > most {
        return Err(ConfigError::invalid(setting, format!("must not be greater than {most}, it is {value}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_within_their_own_ranges() {
        Limits::default().check().unwrap();
        Worker::default().check().unwrap();
        Speech::default().check().unwrap();
        Fetch::default().check().unwrap();
    }

    #[test]
    fn both_ends_of_a_range_are_allowed_and_named_when_passed() {
        assert!(within("a.b", 5, 5, 7).is_ok());
        assert!(within("a.b", 7, 5, 7).is_ok());
        let low = within("a.b", 4, 5, 7).unwrap_err().to_string();
        assert_eq!(low, "a.b must not be less than 5, it is 4");
        let high = within("a.b", 8, 5, 7).unwrap_err().to_string();
        assert_eq!(high, "a.b must not be greater than 7, it is 8");
    }
}
