//! Keeps requests that a client can direct away from the operator's own network.
//!
//! Used wherever the address comes from a request: audio URLs, callbacks, webhooks. Checks the
//! URL, resolves names itself and connects to nothing but the addresses that passed the check.
//! It sends nothing on its own and knows no job.

mod address;
mod apart;
mod authorities;
mod client;
mod url;

pub use address::is_public;
pub use apart::apart;
pub use authorities::{Authorities, AuthoritiesError, CertificateFault};
pub use client::{BlockedAddress, client};
pub use url::{UrlError, check_url};
