//! Bytes under keys, as files of one folder: audio, checkpoints, results.
//!
//! The blob store does not know what the bytes mean. A key exists only after its bytes are
//! durable: temporary file, flush, rename, flush of the folder. A row that names a blob is
//! written after it, so a crash leaves at worst a blob without a row, which the sweeper of
//! the worker removes after an hour.

mod error;
mod folder;
#[cfg(test)]
mod suite;
mod write;

pub use error::BlobError;
pub use folder::{Blobs, Shelf};
pub use write::{Stored, Unfinished};
