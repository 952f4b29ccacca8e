//! The job that an add-on works for: its data and the way back to the host.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{Result, fail};
use crate::runtime::{Level, Runtime};

/// Figures of the job's audio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AudioInfo {
    /// Length in seconds.
    pub duration_s: f64,
    /// Samples per second that an add-on would read.
    pub sample_rate_hz: u32,
    /// Number of tracks.
    pub channels: u16,
    /// Samples per channel at that rate.
    pub frames: u64,
}

/// What an add-on named in `after` or `requires` did earlier in the same job.
#[derive(Debug, Clone, PartialEq)]
pub struct Previous {
    /// The add-on's name.
    pub name: String,
    /// `done`, `empty` or `failed`.
    pub status: String,
    /// Its result as JSON text.
    pub result: Option<String>,
}

/// The job that an add-on works for.
pub struct Job {
    /// The client's id of it.
    pub id: String,
    /// `pre-recorded` or `post-processing`.
    pub mode: String,
    /// The variant that is worked on; none for the original transcript.
    pub variant: Option<String>,
    /// The job's audio.
    pub audio: AudioInfo,
    /// Outputs of earlier add-ons.
    pub previous: Vec<Previous>,
    /// What the contract does not type yet (the client's metadata, requested languages).
    pub extra: Map<String, Value>,
    pub(crate) runtime: Box<dyn Runtime>,
}

impl Job {
    /// The result of an earlier add-on; `None` when it did not run, failed or found nothing.
    ///
    /// # Errors
    /// When the result does not have the shape of `T`.
    pub fn previous<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let Some(text) = self.previous.iter().find(|p| p.name == name).and_then(|p| p.result.as_ref()) else {
            return Ok(None);
        };
        let parsed = serde_json::from_str(text)
            .map_err(|error| fail(500, "UnexpectedPreviousResult", format!("result of {name}: {error}")))?;
        Ok(Some(parsed))
    }

    /// Writes a line to the add-on's log; see [`Runtime::log`].
    pub fn log(&self, level: Level, message: impl fmt::Display) {
        self.runtime.log(level, &message.to_string());
    }

    /// Reports how far the work is, 0.0 to 1.0.
    pub fn progress(&self, fraction: f32, note: &str) {
        self.runtime.progress(fraction, note);
    }

    /// Whether the job was cancelled; worth asking in long loops.
    pub fn cancelled(&self) -> bool {
        self.runtime.cancelled()
    }

    /// Milliseconds since 1970; in a recorded job the time of its acceptance, so that a
    /// repeated run gives the same result.
    pub fn unix_millis(&self) -> u64 {
        self.runtime.unix_millis()
    }
}
