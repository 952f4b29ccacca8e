//! Decides whether a component may be loaded.
