//! Signatures: HMAC-SHA256 (RFC 2104) over the time, a dot and the body.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::model::secret::Secret;

/// The value of `x-service-signature` in the making, so that a long body passes through in
/// pieces.
pub(super) struct Signature(Hmac<Sha256>);

impl Signature {
    /// Begins with the value of `x-service-timestamp`.
    pub fn begin(secret: &Secret, timestamp: &str) -> Self {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose().as_bytes())
            .expect("HMAC takes keys of any length");
        mac.update(timestamp.as_bytes());
        mac.update(b".");
        Self(mac)
    }

    /// Takes the next piece of the body.
    pub fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// `sha256=` and 64 hex digits.
    pub fn finish(self) -> String {
        format!("sha256={}", hex::encode(self.0.finalize().into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Made with Python: hmac.new(b"secret", b"1767261600.{\"a\":1}", "sha256").hexdigest()
    const EXPECTED: &str = "sha256=ec8ec9bd184f930164a96d9d63f1bd5204798ab85e7c63acb31a80aa0f9d2c3e";

    #[test]
    fn pieces_give_the_signature_of_the_whole() {
        for cut in 0..7 {
            let body = br#"{"a":1}"#;
            let mut signature = Signature::begin(&Secret::new("secret"), "1767261600");
            signature.update(&body[..cut]);
            signature.update(&body[cut..]);
            assert_eq!(signature.finish(), EXPECTED);
        }
    }
}
