//! The keys that are accepted, and new ones.
//!
//! Every known key is looked at whatever the outcome, so that the time of an answer tells
//! nothing about them.

use arc_swap::ArcSwap;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::config::{Auth, Secret};
use crate::model::id::AccountId;
use crate::store::StoredKey;

/// The header that holds the key.
pub const KEY_HEADER: &str = "x-service-key";

/// Owner of what the bootstrap key makes.
const BOOTSTRAP_ACCOUNT: &str = "default";

/// How every key of ours begins, so that one that leaked is recognised.
const PREFIX: &str = "tympan_";

/// Whom a key belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Owner of what this key makes.
    pub account: AccountId,
    /// May use the operator's part of the API.
    pub is_admin: bool,
    /// SHA-256 of the key.
    pub digest: [u8; 32],
}

/// A new key: 256 random bits.
///
/// # Errors
/// When the system gives none.
pub fn new_key() -> Result<Secret, getrandom::Error> {
    let mut bits = [0; 32];
    getrandom::fill(&mut bits)?;
    Ok(Secret::new(format!("{PREFIX}{}", hex::encode(bits))))
}

/// What is kept of a key.
pub fn digest(key: &[u8]) -> [u8; 32] {
    Sha256::digest(key).into()
}

/// All keys that are accepted.
pub struct Keys {
    headers: Vec<String>,
    configured: Vec<Holder>,
    stored: ArcSwap<Vec<Holder>>,
}

impl Keys {
    /// Takes over the keys of the configuration.
    pub fn new(auth: &Auth) -> Self {
        let bootstrap = auth.bootstrap_key.iter().map(|key| Holder {
            account: AccountId(BOOTSTRAP_ACCOUNT.to_owned()),
            is_admin: true,
            digest: digest(key.expose().as_bytes()),
        });
        let listed = auth.keys.iter().map(|key| Holder {
            account: AccountId(key.account.clone()),
            is_admin: key.is_admin,
            digest: key.sha256,
        });
        let mut headers = vec![KEY_HEADER.to_owned()];
        headers.extend(auth.header_aliases.iter().cloned());
        Self { headers, configured: bootstrap.chain(listed).collect(), stored: ArcSwap::default() }
    }

    /// Names of the headers that may hold the key, lower case; the specification's first.
    pub fn headers(&self) -> &[String] {
        &self.headers
    }

    /// Whom a presented key belongs to.
    pub fn holder_of(&self, presented: &[u8]) -> Option<Holder> {
        let digest = digest(presented);
        let stored = self.stored.load();
        let mut found = None;
        for holder in self.configured.iter().chain(stored.iter()) {
            if holder.digest.ct_eq(&digest).into() {
                found = Some(holder);
            }
        }
        found.cloned()
    }

    /// Replaces the keys of the database; those of the configuration stay.
    pub fn replace_stored(&self, keys: Vec<StoredKey>) {
        let holder =
            |key: StoredKey| Holder { account: key.account_id, is_admin: key.is_admin, digest: key.digest };
        self.stored.store(keys.into_iter().map(holder).collect::<Vec<_>>().into());
    }

    /// The digests of all keys that are accepted.
    pub fn digests(&self) -> Vec<[u8; 32]> {
        self.configured.iter().chain(self.stored.load().iter()).map(|holder| holder.digest).collect()
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
        let holder = |key: &[u8]| keys.holder_of(key).map(|holder| (holder.account.0, holder.is_admin));
        assert_eq!(holder(b"one"), Some(("default".into(), true)));
        assert_eq!(holder(b"two"), Some(("shop".into(), false)));
        assert_eq!(holder(b"three"), Some(("shop".into(), true)));
        for wrong in [&b""[..], b"on", b"one ", b"ONE", b"four", &[0xff; 4096]] {
            assert_eq!(keys.holder_of(wrong), None);
        }
    }

    #[test]
    fn keys_of_the_database_come_and_go_and_those_of_the_configuration_stay() {
        let keys = keys();
        let key = new_key().unwrap();
        let stored = StoredKey {
            id: uuid::Uuid::new_v4(),
            account_id: AccountId("new".into()),
            digest: digest(key.expose().as_bytes()),
            label: String::new(),
            is_admin: false,
            created_ms: 0,
            revoked_ms: None,
        };
        assert_eq!(keys.holder_of(key.expose().as_bytes()), None);
        keys.replace_stored(vec![stored]);
        let holder = keys.holder_of(key.expose().as_bytes()).unwrap();
        assert_eq!((holder.account.0.as_str(), holder.is_admin), ("new", false));
        keys.replace_stored(Vec::new());
        assert_eq!(keys.holder_of(key.expose().as_bytes()), None);
        assert!(keys.holder_of(b"one").is_some());
    }

    #[test]
    fn new_keys_have_256_bits_and_are_never_the_same() {
        let (one, other) = (new_key().unwrap(), new_key().unwrap());
        assert_ne!(one, other);
        let bits = one.expose().strip_prefix("tympan_").unwrap();
        assert_eq!(hex::decode(bits).unwrap().len(), 32);
    }

    #[test]
    fn the_header_of_the_specification_comes_before_its_aliases() {
        assert_eq!(keys().headers(), ["x-service-key", "x-other-key"]);
    }
}
