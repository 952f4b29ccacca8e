//! The steps of a job, one module each; none knows another.

pub mod decode;
pub mod fetch;
pub mod segment;
pub mod transcribe;
