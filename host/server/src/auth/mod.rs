//! Who is calling: API keys, from the configuration and from the database.
//!
//! Keys are compared by SHA-256 digest, in constant time. A key itself is kept nowhere and
//! never printed by this module.

mod keys;
mod watch;

pub use keys::{Holder, KEY_HEADER, Keys, digest, new_key};
pub use watch::Watch;
