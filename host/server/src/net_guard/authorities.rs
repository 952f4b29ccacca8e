//! Certificate authorities that the operator trusts beside those of the system, and what is
//! wrong with a certificate that none of them vouches for.

use std::error::Error;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reqwest::Certificate;
use rustls::CertificateError;

/// Read of a file at most; all authorities of a system together take a hundredth.
const MOST_BYTES: u64 = 32_000_000;

/// Further authorities; none by default.
#[derive(Debug, Clone, Default)]
pub struct Authorities {
    file: Option<PathBuf>,
    certificates: Arc<Vec<Certificate>>,
}

/// A file that holds no authorities; continues a sentence that the name of its setting begins.
#[derive(Debug, thiserror::Error)]
pub enum AuthoritiesError {
    /// It cannot be read.
    #[error("must name a file that can be read, {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It holds something else.
    #[error("must name a file of certificates in PEM form, {} is none", .0.display())]
    NoCertificates(PathBuf),
}

impl Authorities {
    /// Reads a file of one or more certificates in PEM form.
    ///
    /// # Errors
    /// [`AuthoritiesError`], also where one of the certificates cannot be used.
    pub fn read(path: &Path) -> Result<Self, AuthoritiesError> {
        let no_certificates = || AuthoritiesError::NoCertificates(path.to_owned());
        let mut bytes = Vec::new();
        let opened = File::open(path);
        opened
            .and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes))
            .map_err(|source| AuthoritiesError::Unreadable { path: path.to_owned(), source })?;
        let certificates = Certificate::from_pem_bundle(&bytes).map_err(|_| no_certificates())?;
        let found = Self { file: Some(path.to_owned()), certificates: Arc::new(certificates) };
        // Whether a certificate can vouch for others is only found out by whoever would ask it.
        let usable = super::client(true, &found, |builder| builder).is_ok();
        if found.certificates.is_empty() || !usable { Err(no_certificates()) } else { Ok(found) }
    }

    /// The file that they were read from.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    pub(super) fn certificates(&self) -> impl Iterator<Item = Certificate> {
        self.certificates.iter().cloned()
    }
}

/// What is wrong with the certificate of a host; continues a sentence about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CertificateFault {
    /// Nobody whom we trust has signed it.
    #[error("is signed by nobody whom this service trusts")]
    UnknownAuthority,
    /// Its time is over, or has not come.
    #[error("has expired or is not valid yet")]
    Expired,
    /// It belongs to somebody else.
    #[error("is for another host name")]
    OtherName,
    /// Anything else.
    #[error("is not valid")]
    Invalid,
}

impl CertificateFault {
    /// The fault that made a request fail, if that was the reason.
    pub fn of(error: &reqwest::Error) -> Option<Self> {
        let mut source: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(cause) = source {
            if let Some(rustls::Error::InvalidCertificate(fault)) = tls_error(cause) {
                return Some(Self::from(fault));
            }
            source = cause.source();
        }
        None
    }
}

impl From<&CertificateError> for CertificateFault {
    fn from(error: &CertificateError) -> Self {
        match error {
            CertificateError::UnknownIssuer | CertificateError::BadSignature => Self::UnknownAuthority,
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => Self::Expired,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                Self::OtherName
            }
            _ => Self::Invalid,
        }
    }
}

/// rustls arrives within an `io::Error`, or within two, whose `source` passes over what they
/// wrap.
fn tls_error<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    let mut inner = cause;
    while let Some(wrapped) = inner.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        inner = wrapped;
    }
    inner.downcast_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_found_however_deep_they_are_wrapped() {
        let fault = || rustls::Error::InvalidCertificate(CertificateError::Expired);
        let wrapped = io::Error::new(io::ErrorKind::InvalidData, fault());
        let twice = io::Error::other(io::Error::other(fault()));
        for cause in [&fault() as &(dyn Error + 'static), &wrapped, &twice] {
            assert_eq!(tls_error(cause), Some(&fault()), "{cause:?}");
        }
        assert_eq!(tls_error(&io::Error::other("else")), None);
    }

    #[test]
    fn files_without_certificates_are_refused_with_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        let error = Authorities::read(&path).unwrap_err().to_string();
        assert!(error.starts_with("must name a file that can be read"), "{error}");
        let not_der = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        let key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
        for text in ["", "no certificate", not_der, key] {
            std::fs::write(&path, text).unwrap();
            let error = Authorities::read(&path).unwrap_err().to_string();
            assert!(error.starts_with("must name a file of certificates in PEM form"), "{text}: {error}");
        }
        assert_eq!(Authorities::default().file(), None);
    }
}
