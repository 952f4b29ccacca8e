//! Brings audio from a URL to a local file.
