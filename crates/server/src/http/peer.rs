//! Where a request comes from.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};

/// The other end of the connection. Absent when a router is called without one, as in tests.
#[derive(Debug, Clone, Copy)]
pub struct Peer {
    pub address: Option<IpAddr>,
    /// Whether it is a process of this machine speaking for itself.
    pub is_local: bool,
}

impl Peer {
    pub fn of(extensions: &Extensions, headers: &HeaderMap) -> Self {
        let address = extensions
            .get::<ConnectInfo<SocketAddr>>()
            .map(|ConnectInfo(socket)| socket.ip().to_canonical());
        // A proxy on this machine speaks for somebody who is elsewhere.
        let forwarded =
            ["forwarded", "x-forwarded-for", "x-real-ip", "via"].map(|h| headers.contains_key(h));
        let is_local = address.is_some_and(|ip| ip.is_loopback()) && !forwarded.contains(&true);
        Self { address, is_local }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Peer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.extensions, &parts.headers))
    }
}
