//! Encrypted connections to the database: the driver's port for them on rustls.
//!
//! Who is trusted is decided in `trust`; whether a connection is encrypted at all, by the
//! driver's mode, which `address` sets. A peer that is not trusted is never spoken to.

mod binding;
mod refusal;
mod trust;

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use mnemic_core::{Error, Result};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::{TlsConnector, client};

pub(super) use self::refusal::{Refusal, refusal};
pub(super) use self::trust::{Authorities, Trust};

/// The protocol's registered name, without which a server refuses `sslnegotiation=direct`.
const PROTOCOL: &[u8] = b"postgresql";

/// Encrypts connections to peers that are trusted.
#[derive(Clone)]
pub(super) struct Connector(Arc<ClientConfig>);

impl Connector {
    pub(super) fn new(trust: Trust) -> Result<Self> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = trust.into_verifier(&provider);
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| Error::internal("there is no protocol to encrypt with").caused_by(e))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(Self(Arc::new(config)))
    }
}

impl<S> MakeTlsConnect<S> for Connector
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type TlsConnect = Connecting;
    type Error = Refusal;

    /// The host may be none that has a certificate: this is also called where nothing will be
    /// encrypted, so it is looked at later.
    fn make_tls_connect(&mut self, host: &str) -> Result<Connecting, Refusal> {
        Ok(Connecting { connector: self.0.clone().into(), host: host.to_owned() })
    }
}

/// A connection that is about to be encrypted.
pub(super) struct Connecting {
    connector: TlsConnector,
    host: String,
}

impl<S> TlsConnect<S> for Connecting
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type Error = Refusal;
    type Future = Pin<Box<dyn Future<Output = Result<Encrypted<S>, Refusal>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let Self { connector, host } = self;
            let name = ServerName::try_from(host.clone())
                .map_err(|error| Refusal::new(&host, io::Error::other(error)))?;
            let stream = connector.connect(name, stream).await;
            stream.map(Encrypted).map_err(|error| Refusal::new(&host, error))
        })
    }
}

/// An encrypted connection.
pub(super) struct Encrypted<S>(client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    /// Ties the password's proof to this very certificate, so that it cannot be passed on.
    fn channel_binding(&self) -> ChannelBinding {
        let certificates = self.0.get_ref().1.peer_certificates();
        certificates
            .and_then(|chain| binding::end_point(chain.first()?))
            .map_or_else(ChannelBinding::none, ChannelBinding::tls_server_end_point)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
