//! Structured logs on standard error, and traces for a collector.
//!
//! What goes into a line or a span is decided where it is written; this module decides how it
//! looks and where it goes. Standard output stays free for what commands print.

#[cfg(feature = "otlp")]
mod collector;
#[cfg(feature = "otlp")]
mod export;
#[cfg(not(feature = "otlp"))]
#[path = "no_export.rs"]
mod export;
mod panics;
mod start;

pub use export::{Exporter, adopt, trace_parent};
pub use panics::hide_panic_texts;
use start::SpanLayer;
pub use start::{TelemetryError, check, init};
