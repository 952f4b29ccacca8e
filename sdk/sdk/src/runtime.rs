//! What the host always offers an add-on: log, progress, cancellation, clock.

use crate::export::bindings::tympan::addon::runtime as host;

/// Severity of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Every step.
    Trace,
    /// For the author.
    Debug,
    /// Worth knowing.
    Info,
    /// Something looks wrong.
    Warn,
    /// Something is wrong.
    Error,
}

/// The host's side of a [`Job`](crate::Job); the tests put a scripted one in its place.
pub trait Runtime {
    /// One line for the author. The host's operator sees its length only, because it may hold
    /// transcript text; `tympan-addon test` shows it.
    fn log(&self, level: Level, message: &str);
    /// How far the work is, 0.0 to 1.0.
    fn progress(&self, fraction: f32, note: &str);
    /// Whether the job was cancelled.
    fn cancelled(&self) -> bool;
    /// Milliseconds since 1970; in a recorded job the time of its acceptance.
    fn unix_millis(&self) -> u64;
}

/// The imported interface; works inside a component only.
pub(crate) struct HostRuntime;

impl Runtime for HostRuntime {
    fn log(&self, level: Level, message: &str) {
        let level = match level {
            Level::Trace => host::Level::Trace,
            Level::Debug => host::Level::Debug,
            Level::Info => host::Level::Info,
            Level::Warn => host::Level::Warn,
            Level::Error => host::Level::Error,
        };
        host::log(level, message);
    }

    fn progress(&self, fraction: f32, note: &str) {
        host::progress(fraction, note);
    }

    fn cancelled(&self) -> bool {
        host::cancelled()
    }

    fn unix_millis(&self) -> u64 {
        host::unix_millis()
    }
}
