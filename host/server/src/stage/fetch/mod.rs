//! Brings audio from a URL to a local file.
//!
//! Streams to disk under limits of size and time, follows redirects itself and checks each
//! target. It never decodes, and its errors repeat nothing of the URL.

mod download;
mod error;
mod filename;
mod policy;

pub use crate::net_guard::check_url;
pub use download::fetch;
pub use error::FetchError;
pub use policy::{FetchPolicy, Fetched};
