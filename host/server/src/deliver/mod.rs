//! Callbacks: rows to send.
