//! Traces over OTLP: finished spans go to a collector in batches, from a thread of their own.
//!
//! A collector that is slow or gone costs the service nothing: when the queue of the batch
//! processor is full, spans are dropped. Only our own spans are exported, and none of the
//! lines of the log.

use std::collections::HashMap;
use std::time::Duration;

use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::TracerProvider;
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;

use super::collector::Collector;
use super::{SpanLayer, TelemetryError};
use crate::config::Otlp;
use crate::net_guard::Authorities;

/// The header that W3C Trace Context names.
const TRACE_PARENT: &str = "traceparent";

/// Longest time that the end of the process waits for the last spans to be taken.
const LAST_FLUSH: Duration = Duration::from_secs(5);

/// Longest time for one request to the collector.
const REQUEST_LIMIT: Duration = Duration::from_secs(5);

/// Sends what has been collected until it is told to finish.
#[derive(Debug)]
pub struct Exporter(Option<SdkTracerProvider>);

/// The layer that collects spans, where the configuration names a collector.
pub(super) fn start(
    otlp: &Otlp,
    authorities: &Authorities,
) -> Result<(Option<SpanLayer>, Exporter), TelemetryError> {
    let Some(url) = &otlp.traces_url else { return Ok((None, Exporter(None))) };
    let provider = provider(otlp, url, authorities).map_err(TelemetryError::Exporter)?;
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer(env!("CARGO_PKG_NAME")))
        .with_context_activation(false)
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .with_filter(filter_fn(|metadata| {
            metadata.is_span() && metadata.target().starts_with(env!("CARGO_PKG_NAME"))
        }));
    Ok((Some(layer.boxed()), Exporter(Some(provider))))
}

fn provider(otlp: &Otlp, url: &str, authorities: &Authorities) -> Result<SdkTracerProvider, String> {
    let collector = Collector::new(REQUEST_LIMIT, authorities).map_err(|error| error.to_string())?;
    let headers: HashMap<String, String> =
        otlp.headers.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect();
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(collector)
        .with_headers(headers)
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(url)
        .with_timeout(REQUEST_LIMIT)
        .build()
        .map_err(|error| error.to_string())?;
    let resource = Resource::builder()
        .with_service_name(otlp.service_name.clone())
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build();
    Ok(SdkTracerProvider::builder().with_resource(resource).with_batch_exporter(exporter).build())
}

impl Exporter {
    /// Sends what is left, within a limit.
    pub async fn finish(self) {
        let Some(provider) = self.0 else { return };
        // The exporter's thread needs this runtime while we wait for it.
        let finished = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(LAST_FLUSH)).await;
        if !matches!(finished, Ok(Ok(()))) {
            tracing::warn!("the last spans were not taken by the collector of traces");
        }
    }
}

/// Puts a span that was just made under the span that a `traceparent` names; one that makes no
/// sense is passed over.
pub fn adopt(span: &Span, trace_parent: Option<&str>) {
    let Some(trace_parent) = trace_parent else { return };
    let carrier = HashMap::from([(TRACE_PARENT.to_owned(), trace_parent.to_owned())]);
    let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &carrier);
    // Fails where nobody collects the span.
    let _ = span.set_parent(parent);
}

/// The place of the present span in its trace, as a `traceparent`.
pub fn trace_parent() -> Option<String> {
    let span = Span::current();
    if span.is_disabled() {
        return None;
    }
    let mut carrier = HashMap::new();
    TraceContextPropagator::new().inject_context(&span.context(), &mut carrier);
    carrier.remove(TRACE_PARENT)
}
