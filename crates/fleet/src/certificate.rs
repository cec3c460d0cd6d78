//! The certificate by which a fleet's servers are known, and the encryption that trusts no other.
//!
//! Owns how it is made, its hash, and the check of the one that a server shows. An invitation names the hash,
//! so nobody but the founder vouches for it: no authority, no host name and no date counts, and the way to a
//! server may be a tunnel. The three servers of a fleet have the same one.

use std::{error::Error, fmt, io, net::IpAddr, sync::Arc};

use async_nats::rustls::{
    self, CertificateError, ClientConfig, DigitallySignedStruct, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls13_signature},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject as _},
};
use flagpost_model::envelope::Hash;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SanType};
use serde::{Deserialize, Serialize};

/// A certificate with its secret key, as PEM.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Certificate {
    pem: String,
    hash: Hash,
}

/// Text that is no certificate with a key, or one that cannot be made. A secret may be in it, so it is not
/// repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a server's certificate {reason}")]
pub struct InvalidCertificate {
    reason: String,
}

fn invalid(reason: impl Into<String>) -> InvalidCertificate {
    let reason = reason.into();
    InvalidCertificate { reason }
}

impl Certificate {
    /// A new one for servers that reach each other at these addresses.
    pub fn generate(addresses: &[IpAddr]) -> Result<Self, InvalidCertificate> {
        let failed = |error: rcgen::Error| invalid(format!("cannot be made: {error}"));
        let mut asked = CertificateParams::default();
        asked.distinguished_name = DistinguishedName::new();
        let name = "a fleet of Flagpost";
        asked.distinguished_name.push(DnType::CommonName, name);
        asked.subject_alt_names = addresses.iter().copied().map(SanType::IpAddress).collect();
        let key = KeyPair::generate().map_err(failed)?;
        let made = asked.self_signed(&key).map_err(failed)?;
        format!("{}{}", made.pem(), key.serialize_pem()).parse()
    }

    /// The hash by which it is known.
    pub fn hash(&self) -> &Hash {
        &self.hash
    }

    /// The certificate and its key, for the server alone.
    pub fn pem(&self) -> &str {
        &self.pem
    }
}

impl std::str::FromStr for Certificate {
    type Err = InvalidCertificate;
    fn from_str(pem: &str) -> Result<Self, InvalidCertificate> {
        let shown = CertificateDer::from_pem_slice(pem.as_bytes());
        let shown = shown.map_err(|_| invalid("cannot be read"))?;
        let key = PrivateKeyDer::from_pem_slice(pem.as_bytes());
        key.map_err(|_| invalid("is without its key"))?;
        Ok(Self {
            pem: pem.to_owned(),
            hash: Hash::of(&shown),
        })
    }
}

impl TryFrom<String> for Certificate {
    type Error = InvalidCertificate;
    fn try_from(pem: String) -> Result<Self, InvalidCertificate> {
        pem.parse()
    }
}

impl From<Certificate> for String {
    fn from(certificate: Certificate) -> String {
        certificate.pem
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Certificate({})", self.hash.as_str())
    }
}

/// Encryption on the way to a server that shows the certificate of this hash.
pub(crate) fn encryption(certificate: &Hash) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let pin = Pin {
        certificate: certificate.clone(),
        provider: Arc::clone(&provider),
    };
    let builder = ClientConfig::builder_with_provider(provider);
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13])?;
    Ok(builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(pin))
        .with_no_client_auth())
}

/// Trusts one certificate.
#[derive(Debug)]
struct Pin {
    certificate: Hash,
    provider: Arc<CryptoProvider>,
}

/// What a server shows that is not the fleet's.
const OTHER: rustls::Error =
    rustls::Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure);

impl ServerCertVerifier for Pin {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match Hash::of(shown) == self.certificate {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(OTHER),
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        // No older protocol is offered.
        Err(OTHER)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let known = &self.provider.signature_verification_algorithms;
        known.supported_schemes()
    }
}

/// Whether a connection failed since the server showed another certificate.
pub(crate) fn is_other_certificate(error: &(dyn Error + 'static)) -> bool {
    of_encryption(error) == Some(&OTHER)
}

/// What the encryption failed at, where a connection failed at that.
pub(crate) fn of_encryption<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e rustls::Error> {
    // An error of the system hides its cause from `source`.
    let within = match error.downcast_ref::<io::Error>() {
        Some(error) => error.get_ref().map(|it| it as &(dyn Error + 'static)),
        None => error.source(),
    };
    error.downcast_ref().or_else(|| of_encryption(within?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_read_as_it_is_written() {
        let made = Certificate::generate(&["127.0.0.1".parse().unwrap()]).unwrap();
        let json = serde_json::to_string(&made).unwrap();
        let read: Certificate = serde_json::from_str(&json).unwrap();
        assert_eq!(read, made);
        assert_ne!(Certificate::generate(&[]).unwrap().hash(), made.hash());
    }

    #[test]
    fn its_key_is_never_shown() {
        let made = Certificate::generate(&[]).unwrap();
        let (shown, key) = made.pem().split_at(made.pem().rfind("-----BEGIN").unwrap());
        let secret = &key[40..60];
        let refused = [shown, key, "", "x"].map(|it| it.parse::<Certificate>().unwrap_err());
        let said = format!("{made:?} {refused:?} {}", refused[0]);
        assert!(!said.contains(secret), "{said}");
    }
}
