//! Who is at the other end of a connection: a client, or a proxy in front of us.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

/// The address of the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Peer(IpAddr);

impl From<SocketAddr> for Peer {
    fn from(address: SocketAddr) -> Self {
        // A socket for both families shows IPv4 addresses wrapped in IPv6.
        Self(address.ip().to_canonical())
    }
}

impl Peer {
    /// Whether what this peer says of the client counts. Without a list everybody is
    /// believed; with one, who is unknown is not.
    pub fn is_trusted(peer: Option<Self>, proxies: Option<&[IpNet]>) -> bool {
        let Some(proxies) = proxies else { return true };
        peer.is_some_and(|peer| proxies.iter().any(|network| network.contains(&peer.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_networks_are_believed() {
        let peer = |text: &str| Some(Peer::from(SocketAddr::new(text.parse().unwrap(), 4000)));
        let list = ["10.0.0.0/8".parse().unwrap(), "::1/128".parse().unwrap()];
        for (address, trusted) in [
            ("10.9.9.9", true),
            ("::ffff:10.9.9.9", true),
            ("::1", true),
            ("11.0.0.1", false),
            ("::2", false),
        ] {
            assert_eq!(Peer::is_trusted(peer(address), Some(&list)), trusted, "{address}");
        }
        assert!(!Peer::is_trusted(peer("10.9.9.9"), Some(&[])));
        assert!(!Peer::is_trusted(None, Some(&list)));
        assert!(Peer::is_trusted(None, None));
    }
}
