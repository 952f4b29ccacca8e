//! What a fetch may do, and what it brings.

use std::time::Duration;

use crate::net_guard::Authorities;

/// Limits of a fetch.
#[derive(Debug, Clone)]
pub struct FetchPolicy {
    /// Lets URLs reach private and loopback addresses.
    pub allow_private: bool,
    /// Who may vouch for hosts beside the authorities of the system.
    pub authorities: Authorities,
    /// Most bytes that are stored.
    pub max_bytes: u64,
    /// For everything, redirects included.
    pub total_timeout: Duration,
    /// For one connection, name resolution included.
    pub connect_timeout: Duration,
    /// Longest wait for the next bytes, and for enough of them to be worth the wait.
    pub idle_timeout: Duration,
    /// Most redirects that are followed.
    pub max_redirects: u32,
}

impl Default for FetchPolicy {
    fn default() -> Self {
        Self {
            allow_private: false,
            authorities: Authorities::default(),
            max_bytes: 2_000_000_000,
            total_timeout: Duration::from_secs(30 * 60),
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(30),
            max_redirects: 5,
        }
    }
}

/// A file that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Bytes written.
    pub size_bytes: u64,
    /// SHA-256 of those bytes, hex.
    pub sha256: String,
    /// The name that the server or the URL gives the file; never a path.
    pub filename: Option<String>,
}
