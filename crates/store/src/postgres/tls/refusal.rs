//! Why a connection could not be encrypted, in words that say what to do about it.

use std::error::Error as _;
use std::{fmt, io};

use rustls::{CertificateError, Error};

/// A peer that is not spoken to. The cause is for the log.
#[derive(Debug)]
pub(in super::super) struct Refusal {
    detail: String,
    cause: io::Error,
}

impl Refusal {
    pub(super) fn new(host: &str, cause: io::Error) -> Self {
        let detail = match cause.get_ref().and_then(|error| error.downcast_ref()) {
            Some(Error::InvalidCertificate(problem)) => about_certificate(host, problem),
            _ => "the connection to the database could not be encrypted: see the log of both sides"
                .to_owned(),
        };
        Self { detail, cause }
    }
}

fn about_certificate(host: &str, problem: &CertificateError) -> String {
    use CertificateError as Problem;
    match problem {
        Problem::UnknownIssuer | Problem::BadSignature => {
            "the database's certificate is not signed by an authority that is trusted: give the \
             file of its authority as sslrootcert"
                .to_owned()
        }
        Problem::NotValidForName | Problem::NotValidForNameContext { .. } => format!(
            "the database's certificate is not for {host}: connect by a name that it is for, or \
             with sslmode=verify-ca"
        ),
        Problem::Expired
        | Problem::ExpiredContext { .. }
        | Problem::NotValidYet
        | Problem::NotValidYetContext { .. } => {
            "the database's certificate is out of date: have it renewed, and check the clocks"
                .to_owned()
        }
        _ => "the database's certificate cannot be used: have it replaced".to_owned(),
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for Refusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

/// Why the driver gave up before the database was spoken to, if encryption was why.
pub(in super::super) fn refusal(error: &tokio_postgres::Error) -> Option<String> {
    let cause = error.source()?;
    if let Some(refusal) = cause.downcast_ref::<Refusal>() {
        return Some(refusal.to_string());
    }
    (cause.to_string() == "server does not support TLS").then(|| {
        "the database offers no encryption, but the address asks for it: switch it on there, or \
         protect the way by other means and connect with sslmode=disable"
            .to_owned()
    })
}
