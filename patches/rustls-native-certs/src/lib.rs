//! No certificates, in place of those of the system.
//!
//! async-nats reads all certificates of the system before each connection, also where it is told which one
//! to trust: 3 ms of each command, and no connection where one of them cannot be read. A fleet trusts the one
//! certificate of its invitation, so the workspace builds with this in that crate's place. It must go as soon
//! as anything here is to trust an authority.

use std::convert::Infallible;

use rustls_pki_types::CertificateDer;

/// What was found.
#[derive(Debug, Default)]
pub struct CertificateResult {
    /// The certificates: none.
    pub certs: Vec<CertificateDer<'static>>,
    /// What could not be read: nothing.
    pub errors: Vec<Infallible>,
}

/// Reads nothing.
#[must_use]
pub fn load_native_certs() -> CertificateResult {
    CertificateResult::default()
}
