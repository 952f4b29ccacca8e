//! Structured logs on standard error.
//!
//! What goes into a line is decided where the line is written; this module decides how it
//! looks. Standard output stays free for what commands print.

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
