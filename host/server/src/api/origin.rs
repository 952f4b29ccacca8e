//! Under which address the client reaches us: links in answers stay on it.
//!
//! Headers can be written by anybody, so of each only what has the shape of a host is used,
//! and those of a proxy only where the operator says so.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::HOST;
use axum::http::request::Parts;
use url::Url;

use super::peer::Peer;
use super::state::Api;

/// The address of last resort: a request without a usable `Host`.
const NOWHERE: &str = "http://localhost";

/// Our address as this client sees it, `scheme://host[:port]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    /// Links begin with it.
    pub public: String,
    /// The one in the request's own headers, where it differs.
    other: Option<String>,
}

impl Origin {
    /// All addresses that this client may call ours.
    pub fn all(&self) -> Vec<String> {
        std::iter::once(&self.public).chain(&self.other).cloned().collect()
    }

    fn new(configured: Option<&str>, headers: &HeaderMap, is_proxy: bool) -> Self {
        let requested = requested(headers, is_proxy);
        match configured {
            Some(public) => {
                Self { public: public.to_owned(), other: requested.filter(|other| other != public) }
            }
            None => Self { public: requested.unwrap_or_else(|| NOWHERE.to_owned()), other: None },
        }
    }
}

impl FromRequestParts<Arc<Api>> for Origin {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Infallible> {
        let settings = &api.settings;
        let peer = parts.extensions.get::<Peer>().copied();
        let is_proxy = Peer::is_trusted(peer, settings.trusted_proxies.as_deref());
        Ok(Self::new(settings.public_base_url.as_deref(), &parts.headers, is_proxy))
    }
}

/// From the headers of a proxy, or else of the client.
fn requested(headers: &HeaderMap, is_proxy: bool) -> Option<String> {
    let of_proxy = |name| first(headers, name).filter(|_| is_proxy);
    let scheme = match of_proxy("x-forwarded-proto").map(str::to_ascii_lowercase).as_deref() {
        Some("https" | "wss") => "https",
        _ => "http",
    };
    let hosts = [of_proxy("x-forwarded-host"), first(headers, HOST.as_str())];
    hosts.into_iter().flatten().find_map(|host| origin(scheme, host))
}

/// The first of several values: the one of the proxy that is nearest to the client.
fn first<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()?.split(',').next().map(str::trim)
}

fn origin(scheme: &str, host: &str) -> Option<String> {
    let is_of_a_host = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    if host.is_empty() || !host.chars().all(is_of_a_host) {
        return None;
    }
    let url = Url::parse(&format!("{scheme}://{host}")).ok()?;
    Some(url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn public(configured: Option<&str>, pairs: &[(&'static str, &str)]) -> Origin {
        Origin::new(configured, &headers(pairs), true)
    }

    #[test]
    fn who_is_no_proxy_cannot_move_the_links() {
        let claimed = headers(&[
            ("host", "inner:8080"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-host", "evil.example"),
        ]);
        assert_eq!(Origin::new(None, &claimed, false).all(), ["http://inner:8080"]);
    }

    #[test]
    fn configuration_comes_before_the_proxy_and_the_proxy_before_the_host() {
        let host = ("host", "inner:8080");
        let proxy =
            [host, ("x-forwarded-proto", "https, http"), ("x-forwarded-host", "Speech.example, inner")];
        assert_eq!(public(None, &[host]).public, "http://inner:8080");
        assert_eq!(public(None, &proxy).public, "https://speech.example");
        assert_eq!(public(None, &proxy[..2]).public, "https://inner:8080");
        let both = public(Some("https://a.example"), &proxy);
        assert_eq!(both.all(), ["https://a.example", "https://speech.example"]);
    }

    #[test]
    fn hosts_that_are_more_than_a_host_are_passed_over() {
        for bad in [
            "",
            "a.example/x",
            "user@a.example",
            "a.example?x",
            "a.example#x",
            "a\\b",
            "a b",
            "a\tb",
            "a\"b",
            "a<b>",
            "a%2fb",
            "[::1",
            "a:99999",
            "a:b",
        ] {
            assert_eq!(public(None, &[("host", bad)]).public, NOWHERE, "{bad}");
            let proxy = [("host", "good.example"), ("x-forwarded-host", bad)];
            assert_eq!(public(None, &proxy).public, "http://good.example", "{bad}");
        }
        assert_eq!(public(None, &[("host", "[::1]:80")]).public, "http://[::1]");
    }
}
