//! Whom a certificate is believed: nobody is asked, an authority, or an authority and the name.
//!
//! Whatever is asked, the peer must prove that the certificate is its own; without that, binding
//! the password to the certificate would protect nothing.

use std::path::Path;
use std::sync::Arc;

use mnemic_core::{Error, Result};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// What is asked of a database's certificate.
#[derive(Debug)]
pub(in super::super) enum Trust {
    /// Nothing: the way is encrypted, but to whomever it leads.
    Anybody,
    /// That one of these has signed it.
    Chain(Authorities),
    /// That, and that it is for the host that was asked for.
    Name(Authorities),
}

impl Trust {
    pub(super) fn into_verifier(self, provider: &Arc<CryptoProvider>) -> Verifier {
        Verifier { trust: self, algorithms: provider.signature_verification_algorithms }
    }
}

/// Whose signature makes a certificate good.
#[derive(Debug)]
pub(in super::super) struct Authorities {
    roots: RootCertStore,
    /// The very certificates of the file; one of them may be the server's own.
    certificates: Vec<CertificateDer<'static>>,
}

impl Authorities {
    /// Those that this system trusts.
    pub(in super::super) fn of_system() -> Result<Self> {
        let found = rustls_native_certs::load_native_certs();
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            let problem = "must name a file, because this system trusts no authority";
            return Err(Error::invalid("sslrootcert", problem));
        }
        Ok(Self { roots, certificates: Vec::new() })
    }

    /// Those of a PEM file.
    pub(in super::super) fn of_file(path: &Path) -> Result<Self> {
        let refused = |problem: &str| {
            Error::invalid("sslrootcert", format_args!("{} {problem}", path.display()))
        };
        let misshapen = |error: Box<dyn std::error::Error + Send + Sync>| {
            refused("is not a file of certificates in PEM").caused_by(error)
        };
        let text =
            std::fs::read(path).map_err(|error| refused("cannot be read").caused_by(error))?;
        let certificates = CertificateDer::pem_slice_iter(&text)
            .collect::<Result<Vec<_>, pem::Error>>()
            .map_err(|error| misshapen(error.into()))?;
        if certificates.is_empty() {
            return Err(refused("holds no certificate"));
        }
        let mut roots = RootCertStore::empty();
        for certificate in &certificates {
            roots.add(certificate.clone()).map_err(|error| misshapen(error.into()))?;
        }
        Ok(Self { roots, certificates })
    }
}

/// Asks what `Trust` says.
#[derive(Debug)]
pub(super) struct Verifier {
    trust: Trust,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Verifier {
    fn verify_chain(
        &self,
        authorities: &Authorities,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), rustls::Error> {
        let parsed = ParsedCertificate::try_from(certificate)?;
        let roots = &authorities.roots;
        let algorithms = self.algorithms.all;
        match verify_server_cert_signed_by_trust_anchor(
            &parsed,
            roots,
            intermediates,
            now,
            algorithms,
        ) {
            // What PostgreSQL's manual makes first: a server's certificate that has signed itself
            // and calls itself an authority. Given as such, it is the one that is trusted. That
            // it is in date was looked at before what it calls itself.
            Err(rustls::Error::InvalidCertificate(CertificateError::Other(_)))
                if authorities.certificates.contains(certificate) =>
            {
                Ok(())
            }
            outcome => outcome,
        }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match &self.trust {
            Trust::Anybody => {}
            Trust::Chain(authorities) => {
                self.verify_chain(authorities, certificate, intermediates, now)?;
            }
            Trust::Name(authorities) => {
                self.verify_chain(authorities, certificate, intermediates, now)?;
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
