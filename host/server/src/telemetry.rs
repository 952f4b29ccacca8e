//! Structured logs on standard error.
//!
//! What goes into a line is decided where the line is written; this module decides how it
//! looks. Standard output stays free for what commands print.

use std::io::Write;
use std::panic::PanicHookInfo;

use tracing_subscriber::EnvFilter;

use crate::config::{Log, LogFormat};

/// Logs could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// `log.filter` is not understood.
    #[error("log.filter must be a level, or levels by module, such as info or tympan=debug,warn")]
    Filter,
    /// Somebody has set logs up before.
    #[error("logs have been set up already")]
    Twice,
}

/// Starts logging for the whole process.
///
/// # Errors
/// [`TelemetryError`], when the filter makes no sense or this is the second call.
pub fn init(log: &Log) -> Result<(), TelemetryError> {
    let filter = EnvFilter::builder().parse(&log.filter).map_err(|_| TelemetryError::Filter)?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match log.format {
        LogFormat::Text => builder.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    started.map_err(|_| TelemetryError::Twice)
}

/// From now on a panic of any thread is reported by its place alone. What it says may quote a
/// request or a transcript, so only the length of that is told.
pub fn hide_panic_texts() {
    std::panic::set_hook(Box::new(report));
}

fn report(panic: &PanicHookInfo<'_>) {
    let (file, line) = panic.location().map_or(("-", 0), |place| (place.file(), place.line()));
    let text_bytes = panic.payload_as_str().map_or(0, str::len);
    if tracing::dispatcher::has_been_set() {
        tracing::error!(file, line, text_bytes, "panicked");
    } else {
        // A command that keeps no log. Standard error may be closed, which is no reason to
        // panic within a panic.
        let mut stderr = std::io::stderr();
        let _ = writeln!(stderr, "panicked at {file}:{line} ({text_bytes} bytes of text are not shown)");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_makes_no_sense_is_refused_with_an_example() {
        let log = Log { filter: "tympan=loud".to_owned(), ..Log::default() };
        let error = init(&log).unwrap_err().to_string();
        assert!(error.starts_with("log.filter must ") && error.contains("tympan=debug"), "{error}");
    }
}
