//! Tympan: a self-hosted speech transcription service.
//!
//! The path of a job: request, validate, store, fetch, decode, segment, transcribe,
//! add-ons, result, deliver. Each step has a module of its own.

pub mod addons;
pub mod api;
pub mod app;
pub mod auth;
pub mod blob;
pub mod cli;
pub mod config;
pub mod deliver;
pub mod engine;
pub mod limits;
pub mod metrics;
pub mod model;
pub mod modelfile;
pub mod net_guard;
pub mod priority;
pub mod retain;
pub mod stage;
pub mod store;
pub mod telemetry;
pub mod validate;
pub mod worker;
