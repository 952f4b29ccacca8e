//! Certificates for receivers on loopback: good ones, and ones that must be refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;

/// Of the next authority.
static NUMBER: AtomicU32 = AtomicU32::new(1);

/// Signs certificates; nobody trusts it by itself.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Default for Authority {
    fn default() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names are valid names");
        // Two with one name would seem to be one with a wrong signature.
        let name = format!("authority {}", NUMBER.fetch_add(1, Ordering::Relaxed));
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        Self(CertifiedIssuer::self_signed(params, key).expect("a certificate"))
    }
}

impl Authority {
    /// Its certificate as a file would hold it.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// An identity of the host with this name or address.
    pub fn certify(&self, host: &str) -> Arc<ServerConfig> {
        self.sign(names(host))
    }

    /// The same, but its time is over.
    pub fn certify_expired(&self, host: &str) -> Arc<ServerConfig> {
        let mut params = names(host);
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
        self.sign(params)
    }

    fn sign(&self, params: CertificateParams) -> Arc<ServerConfig> {
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key in PKCS #8");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = versions.expect("ring knows TLS").with_no_client_auth();
        Arc::new(
            builder.with_single_cert(vec![certificate.der().clone()], key).expect("they belong together"),
        )
    }
}

fn names(host: &str) -> CertificateParams {
    CertificateParams::new(vec![host.to_owned()]).expect("a name or an address")
}
