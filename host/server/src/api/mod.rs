//! HTTP: one file per resource.
