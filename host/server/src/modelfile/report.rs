//! How long work tells how far it is.

/// Receives progress. The command line draws it; tests and services take [`Silent`].
pub trait Report {
    /// A step starts; `size_bytes` is its length where that is known.
    fn begin(&self, step: &str, size_bytes: Option<u64>);
    /// More of the step is done.
    fn advance(&self, bytes: u64);
    /// The step is done. A step that fails has no end.
    fn end(&self);
    /// Something that a person should know.
    fn note(&self, text: &str);
}

/// Tells nobody.
pub struct Silent;

impl Report for Silent {
    fn begin(&self, _step: &str, _size_bytes: Option<u64>) {}
    fn advance(&self, _bytes: u64) {}
    fn end(&self) {}
    fn note(&self, _text: &str) {}
}
