//! The HTTP API: one file per resource, and what all of them share.
//!
//! A handler extracts, validates, calls one method and maps the answer. Nothing here blocks,
//! knows SQL, or runs an add-on by itself.

mod body;
mod caller;
mod collection;
mod cors;
mod crowd;
mod deliveries;
mod docs;
mod envelope;
mod erasures;
mod error;
mod exchange;
mod file;
mod health;
mod idempotency;
mod job_view;
mod jobs;
mod linger;
mod list;
mod metrics;
mod normalise;
mod observe;
mod openapi;
mod origin;
mod path_id;
mod peer;
mod prerecorded;
mod query;
mod range;
mod recent;
mod refuse;
mod router;
mod serve;
mod slow_reader;
mod state;
mod stored;
#[cfg(test)]
mod tests;
mod upload;
mod usage;
mod webhooks;

pub use error::ApiError;
pub use normalise::normalise;
pub use router::router;
pub use serve::{ConnectionLimits, serve};
pub use state::{AddonDesk, Api, ApiSettings, ConfigProblem, ConfigRefusal};
