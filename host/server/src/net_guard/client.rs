//! An HTTP client that connects to checked addresses only.

use std::net::SocketAddr;
use std::sync::{Arc, Once};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};

use super::{Authorities, is_public};

/// Who asks: some hosts refuse requests that do not say so.
const AGENT: &str = concat!("tympan/", env!("CARGO_PKG_VERSION"));

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

/// A client for URLs that passed [`super::check_url`] with the same `allow_private`: no proxy,
/// no redirects, no referer, a name of its own, addresses checked as they are resolved, rustls with ring, the
/// system's certificates and those of `authorities`. Time limits are the caller's, set by
/// `finish`; its requests are sent [`apart`](super::apart).
///
/// # Errors
/// When one of the authorities cannot be used.
pub fn client(
    allow_private: bool,
    authorities: &Authorities,
    finish: impl Fn(ClientBuilder) -> ClientBuilder,
) -> Result<Client, reqwest::Error> {
    static PROVIDER: Once = Once::new();
    // A provider installed earlier is as good.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    let builder = || {
        finish(Client::builder())
            .no_proxy()
            .user_agent(AGENT)
            .redirect(Policy::none())
            .referer(false)
            .http1_only()
            .dns_resolver(Arc::new(GuardedResolver { allow_private }))
    };
    let merged = builder().tls_certs_merge(authorities.certificates()).build();
    // A system without any certificates can still speak http; https then fails as untrusted.
    merged.or_else(|_| builder().tls_certs_only(authorities.certificates()).build())
}
