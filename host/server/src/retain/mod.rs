//! Removal of bytes and rows. It knows the store and the blobs, and nothing of who asks.

mod erase;

pub use erase::erase_job;
