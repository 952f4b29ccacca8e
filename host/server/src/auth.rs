//! Who is calling: API keys.
//!
//! Keys are compared by SHA-256 digest, in constant time, and every known key is looked at
//! whatever the outcome. A key never leaves this module.

use sha2::{Digest, Sha256};

use crate::config::Auth;
use crate::model::id::AccountId;

/// The header that holds the key.
pub const KEY_HEADER: &str = "x-service-key";

/// Owner of what the bootstrap key makes.
const BOOTSTRAP_ACCOUNT: &str = "default";

/// All keys that are accepted.
#[derive(Clone)]
pub struct Keys {
    headers: Vec<String>,
    known: Vec<([u8; 32], AccountId)>,
}

impl Keys {
    /// Takes over the keys of the configuration.
    pub fn new(auth: &Auth) -> Self {
        let bootstrap = auth.bootstrap_key.iter().map(|key| {
            (Sha256::digest(key.expose().as_bytes()).into(), AccountId(BOOTSTRAP_ACCOUNT.to_owned()))
        });
        let listed = auth.keys.iter().map(|key| (key.sha256, AccountId(key.account.clone())));
        let mut headers = vec![KEY_HEADER.to_owned()];
        headers.extend(auth.header_aliases.iter().cloned());
        Self { headers, known: bootstrap.chain(listed).collect() }
    }

    /// Names of the headers that may hold the key, lower case; the specification's first.
    pub fn headers(&self) -> &[String] {
        &self.headers
    }

    /// The account that a presented key belongs to.
    pub fn account_of(&self, presented: &[u8]) -> Option<&AccountId> {
        let digest: [u8; 32] = Sha256::digest(presented).into();
        let mut found = None;
        for (known, account) in &self.known {
            if equal(known, &digest) {
                found = Some(account);
            }
        }
        found
    }
}

/// Compares without stopping at the first difference.
fn equal(a: &[u8; 32], b: &[u8; 32]) -> bool {
    let difference = a.iter().zip(b).fold(0, |seen, (x, y)| std::hint::black_box(seen | (x ^ y)));
    difference == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ApiKey, Secret};

    fn keys() -> Keys {
        Keys::new(&Auth {
            header_aliases: vec!["x-other-key".to_owned()],
            keys: vec![ApiKey { account: "shop".into(), sha256: Sha256::digest(b"two").into() }],
            bootstrap_key: Some(Secret::new("one")),
        })
    }

    #[test]
    fn each_key_leads_to_its_account_and_others_to_none() {
        let keys = keys();
        assert_eq!(keys.account_of(b"one"), Some(&AccountId("default".into())));
        assert_eq!(keys.account_of(b"two"), Some(&AccountId("shop".into())));
        for wrong in [&b""[..], b"on", b"one ", b"ONE", b"three", &[0xff; 4096]] {
            assert_eq!(keys.account_of(wrong), None);
        }
    }

    #[test]
    fn the_header_of_the_specification_comes_before_its_aliases() {
        assert_eq!(keys().headers(), ["x-service-key", "x-other-key"]);
    }

    #[test]
    fn digests_that_differ_in_one_bit_are_not_equal() {
        for at in 0..256 {
            let mut other = [7; 32];
            other[at / 8] ^= 1 << (at % 8);
            assert!(!equal(&[7; 32], &other));
        }
        assert!(equal(&[7; 32], &[7; 32]));
    }
}
