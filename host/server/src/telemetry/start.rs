//! Starts what the process tells of itself: log lines, and spans where they are exported.

use tracing_subscriber::filter::{FilterExt, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry};

use super::export::{self, Exporter};
use crate::config::{Log, LogFormat, Otlp};
use crate::net_guard::Authorities;

/// Collects spans; the innermost layer.
pub(super) type SpanLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// Logs or traces could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// `log.filter` is not understood.
    #[error("log.filter must be a level, or levels by module, such as info or tympan=debug,warn")]
    Filter,
    /// Somebody has set logs up before.
    #[error("logs have been set up already")]
    Twice,
    /// Traces are to be exported by a build that cannot.
    #[error(
        "otlp.endpoint (or OTEL_EXPORTER_OTLP_ENDPOINT) must not be set: this build exports no traces; build it with the cargo feature otlp"
    )]
    NoExporter,
    /// The exporter does not start.
    #[error("traces cannot be exported: {0}")]
    Exporter(String),
}

/// Starts logging for the whole process, and the export of traces where one is configured.
/// Within a runtime that lives until [`Exporter::finish`] has returned.
///
/// # Errors
/// [`TelemetryError`], when the filter makes no sense, this is the second call, or traces
/// cannot be exported.
pub fn init(log: &Log, otlp: &Otlp, authorities: &Authorities) -> Result<Exporter, TelemetryError> {
    let filter = filter(log)?;
    let (spans, exporter) = export::start(otlp, authorities)?;
    // Lines say themselves what they are about, whether or not spans are collected.
    let filter = filter.and(filter_fn(|metadata| metadata.is_event()));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).log_internal_errors(false);
    let lines = match log.format {
        LogFormat::Text => {
            lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).with_filter(filter).boxed()
        }
        LogFormat::Json => lines.json().flatten_event(true).with_filter(filter).boxed(),
    };
    let started = tracing_subscriber::registry().with(spans).with(lines).try_init();
    started.map_err(|_| TelemetryError::Twice)?;
    Ok(exporter)
}

fn filter(log: &Log) -> Result<EnvFilter, TelemetryError> {
    EnvFilter::builder().parse(&log.filter).map_err(|_| TelemetryError::Filter)
}

/// Whether [`init`] would understand the settings of logs.
///
/// # Errors
/// [`TelemetryError::Filter`].
pub fn check(log: &Log) -> Result<(), TelemetryError> {
    filter(log).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_makes_no_sense_is_refused_with_an_example() {
        let log = Log { filter: "tympan=loud".to_owned(), ..Log::default() };
        let error = init(&log, &Otlp::default(), &Authorities::default()).unwrap_err().to_string();
        assert!(error.starts_with("log.filter must ") && error.contains("tympan=debug"), "{error}");
        assert!(check(&log).is_err() && check(&Log::default()).is_ok());
    }
}
