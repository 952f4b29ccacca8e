//! The words of the service as types: jobs, requests, transcripts, results, errors.
//!
//! Plain data with serde. Nothing here does I/O or knows HTTP, SQL, audio or WASM.

pub mod cause;
pub mod code;
pub mod date;
pub mod event;
pub mod filename;
pub mod id;
pub mod job;
pub mod language;
pub mod listing;
pub mod metadata;
pub mod number;
pub mod plan;
pub mod result;
pub mod secret;
pub mod segments;
pub mod spec;
pub mod transcript;
pub mod webhook;
