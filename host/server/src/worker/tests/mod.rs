//! The worker over a real store and real blobs, with scripted steps.

mod failures;
mod real;
mod resume;
mod script;
mod stop;
mod sweep;
