//! An HTTP client that connects to checked addresses only.

use std::net::SocketAddr;
use std::sync::{Arc, Once};

use reqwest::ClientBuilder;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;

use super::is_public;

/// A name that leads to no public address; found in the source chain of a connect error.
#[derive(Debug, thiserror::Error)]
#[error("the host name resolves to no public address")]
pub struct BlockedAddress;

/// Resolves with the system's resolver and drops closed addresses before anyone connects, so
/// that a name cannot change between check and use.
struct GuardedResolver {
    allow_private: bool,
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allow_private = self.allow_private;
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let open: Vec<SocketAddr> =
                found.into_iter().filter(|address| allow_private || is_public(address.ip())).collect();
            if open.is_empty() {
                return Err(BlockedAddress.into());
            }
            Ok(Box::new(open.into_iter()) as Addrs)
        })
    }
}

/// Starts a client for URLs that passed [`super::check_url`] with the same `allow_private`:
/// no proxy, no redirects, no referer, addresses checked as they are resolved, rustls with ring
/// and the system's certificates. Time limits are the caller's.
pub fn client_builder(allow_private: bool) -> ClientBuilder {
    static PROVIDER: Once = Once::new();
    // A provider installed earlier is as good.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    reqwest::Client::builder()
        .no_proxy()
        .redirect(Policy::none())
        .referer(false)
        .http1_only()
        .dns_resolver(Arc::new(GuardedResolver { allow_private }))
}
