//! Jobs, files and deliveries as rows.
