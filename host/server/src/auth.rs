//! Who is calling: API keys.
//!
//! Keys are compared by SHA-256 digest, in constant time, and every known key is looked at
//! whatever the outcome. A key never leaves this module.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::config::Auth;
use crate::model::id::AccountId;

/// The header that holds the key.
pub const KEY_HEADER: &str = "x-service-key";

/// Owner of what the bootstrap key makes.
const BOOTSTRAP_ACCOUNT: &str = "default";

/// Whom a key belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Owner of what this key makes.
    pub account: AccountId,
    /// May use the operator's part of the API.
    pub is_admin: bool,
}

/// A key that is accepted.
#[derive(Clone)]
struct Known {
    digest: [u8; 32],
    holder: Holder,
}

/// All keys that are accepted.
#[derive(Clone)]
pub struct Keys {
    headers: Vec<String>,
    known: Vec<Known>,
}

impl Keys {
    /// Takes over the keys of the configuration.
    pub fn new(auth: &Auth) -> Self {
        let bootstrap = auth.bootstrap_key.iter().map(|key| Known {
            digest: Sha256::digest(key.expose().as_bytes()).into(),
            holder: Holder { account: AccountId(BOOTSTRAP_ACCOUNT.to_owned()), is_admin: true },
        });
        let listed = auth.keys.iter().map(|key| Known {
            digest: key.sha256,
            holder: Holder { account: AccountId(key.account.clone()), is_admin: key.is_admin },
        });
        let mut headers = vec![KEY_HEADER.to_owned()];
        headers.extend(auth.header_aliases.iter().cloned());
        Self { headers, known: bootstrap.chain(listed).collect() }
    }

    /// Names of the headers that may hold the key, lower case; the specification's first.
    pub fn headers(&self) -> &[String] {
        &self.headers
    }

    /// Whom a presented key belongs to.
    pub fn holder_of(&self, presented: &[u8]) -> Option<&Holder> {
        let digest: [u8; 32] = Sha256::digest(presented).into();
        let mut found = None;
        for known in &self.known {
            if known.digest.ct_eq(&digest).into() {
                found = Some(&known.holder);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ApiKey, Secret};

    fn keys() -> Keys {
        let key = |account: &str, key: &[u8], is_admin| ApiKey {
            account: account.into(),
            sha256: Sha256::digest(key).into(),
            is_admin,
        };
        Keys::new(&Auth {
            header_aliases: vec!["x-other-key".to_owned()],
            keys: vec![key("shop", b"two", false), key("shop", b"three", true)],
            bootstrap_key: Some(Secret::new("one")),
        })
    }

    #[test]
    fn each_key_leads_to_its_holder_and_others_to_none() {
        let keys = keys();
        let holder = |account: &str, is_admin| Holder { account: AccountId(account.into()), is_admin };
        assert_eq!(keys.holder_of(b"one"), Some(&holder("default", true)));
        assert_eq!(keys.holder_of(b"two"), Some(&holder("shop", false)));
        assert_eq!(keys.holder_of(b"three"), Some(&holder("shop", true)));
        for wrong in [&b""[..], b"on", b"one ", b"ONE", b"four", &[0xff; 4096]] {
            assert_eq!(keys.holder_of(wrong), None);
        }
    }

    #[test]
    fn the_header_of_the_specification_comes_before_its_aliases() {
        assert_eq!(keys().headers(), ["x-service-key", "x-other-key"]);
    }
}
