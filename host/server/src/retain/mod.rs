//! Removal of bytes and rows: of one job, and of what a plan does not keep any longer. It
//! knows the store and the blobs, and nothing of who asks.

mod erase;
mod sweeper;
#[cfg(test)]
mod tests;

pub use erase::erase_job;
pub use sweeper::{Periods, RetainError, Sweeper};
