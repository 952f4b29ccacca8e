//! What stands in for the exporter of traces in a build without the feature `otlp`.

use tracing::Span;

use super::{SpanLayer, TelemetryError};
use crate::config::Otlp;
use crate::net_guard::Authorities;

/// Nothing is exported.
#[derive(Debug)]
pub struct Exporter;

/// No layer; a configuration that asks for one is refused.
pub(super) fn start(
    otlp: &Otlp,
    _authorities: &Authorities,
) -> Result<(Option<SpanLayer>, Exporter), TelemetryError> {
    match otlp.traces_url {
        Some(_) => Err(TelemetryError::NoExporter),
        None => Ok((None, Exporter)),
    }
}

impl Exporter {
    /// There is nothing to be sent.
    pub async fn finish(self) {}
}

/// Spans belong to nothing where nobody collects them.
pub fn adopt(_span: &Span, _trace_parent: Option<&str>) {}

/// No span has a place in a trace.
pub fn trace_parent() -> Option<String> {
    None
}
