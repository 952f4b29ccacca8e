//! Removal of bytes and rows: of one job, and of what a plan does not keep any longer. It
//! knows the store and the blobs, and nothing of who asks.

mod blobs;
mod erase;
mod error;
mod jobs;
mod sweeper;
mod tell;
#[cfg(test)]
mod tests;

pub use erase::erase_job;
pub use error::RetainError;
pub use sweeper::{Periods, Sweeper};
