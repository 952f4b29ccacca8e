//! Jobs, files, checkpoints and deliveries as rows.
//!
//! The store knows the model and nothing of HTTP, audio or WASM. Rows never hold speech
//! text: results and checkpoints are blobs, a row keeps their key. It has no clock: the
//! caller passes the time in, in milliseconds since 1970.
//!
//! All SQL stands in `sqlite`. Writes go through one task that puts waiting changes into
//! one durable commit (`writer`); reads have connections of their own.

mod admission;
mod backlog;
mod client_metadata;
mod deliveries;
mod erase;
mod error;
mod files;
mod jobs;
mod keys;
mod leases;
mod lists;
mod open;
mod repeats;
mod retention;
mod rows;
mod sqlite;
#[cfg(test)]
mod suite;
mod turns;
mod usage;
mod webhooks;
mod writer;

pub use admission::{Quota, Refusal};
pub use backlog::Backlog;
pub use client_metadata::Attached;
pub use deliveries::{
    Attempted, Delivery, DeliveryClaim, DeliveryFilter, DeliveryRecord, DueDelivery, DueShares, Replay,
};
pub use erase::Erasure;
pub use error::StoreError;
pub use files::{FileFacts, FileRecord};
pub use jobs::{Job, NewJob, QueueCounts};
pub use keys::StoredKey;
#[cfg(test)]
pub(crate) use leases::no_limit;
pub use leases::{Checkpoint, Claimed, ConcurrencyLimit, Ending, Lease, Outcome};
pub use lists::JobPage;
pub use open::Store;
pub use repeats::{REPEAT_WINDOW_MS, RequestMark};
pub use retention::{ErasureRecord, Expired, Keepsake};
pub use usage::{AccountUsage, Days, UsageOfDay};
