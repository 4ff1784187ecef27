//! The one way out: an HTTP client that cannot be led astray.
//!
//! Addresses of endpoints come from configuration, but the names in them are resolved by others
//! and answers may redirect. So redirects are off, names that lead to private addresses are
//! refused in the resolver (which closes the gap between checking and connecting), literal
//! addresses are checked before each request, and bodies are read up to a limit. Environment
//! proxies apply only where private addresses are allowed: behind a proxy nothing can be checked.

mod address;

use std::error::Error as _;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use mnemic_core::error::{Code, Error, Result};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{RequestBuilder, Response, Url, redirect};

use self::address::is_public;

#[derive(Debug, Clone)]
pub struct ClientOptions {
    pub connect_timeout: Duration,
    /// The longest silence while an answer is awaited or read.
    pub read_timeout: Duration,
    /// 0, unless the address is a constant of ours; redirects only ever lead to https.
    pub redirects_max: usize,
    /// Whether loopback and local networks may be reached.
    pub allow_private: bool,
}

#[derive(Debug, Clone)]
pub struct Client {
    client: reqwest::Client,
    allow_private: bool,
}

impl Client {
    pub fn new(options: &ClientOptions) -> Result<Self> {
        // Fails only if a provider is installed already, which then serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("mnemic/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(options.connect_timeout)
            .read_timeout(options.read_timeout)
            .referer(false)
            .redirect(redirects(options.redirects_max, options.allow_private));
        if !options.allow_private {
            builder = builder.dns_resolver(PublicOnly).no_proxy();
        }
        let client = builder
            .build()
            .map_err(|e| Error::internal("the HTTP client could not be made").caused_by(e))?;
        Ok(Self { client, allow_private: options.allow_private })
    }

    pub fn get(&self, url: &Url) -> Result<RequestBuilder> {
        self.check(url)?;
        Ok(self.client.get(url.clone()))
    }

    pub fn post(&self, url: &Url) -> Result<RequestBuilder> {
        self.check(url)?;
        Ok(self.client.post(url.clone()))
    }

    /// Refuses what the resolver would never see.
    pub fn check(&self, url: &Url) -> Result<()> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Error::invalid("url", "only http and https are possible"));
        }
        if !self.allow_private && literal(url).is_some_and(|address| !is_public(address)) {
            return Err(Error::invalid("url", REFUSED));
        }
        Ok(())
    }
}

pub(crate) const REFUSED: &str = "its host is a private address; allow private addresses to use it";

/// The body, if it is no longer than that.
pub async fn read_limited(mut response: Response, bytes_max: usize) -> Result<Vec<u8>> {
    let too_large = || {
        let detail = format!("the answer is longer than {bytes_max} bytes");
        Error::new(Code::ModelUnavailable, detail)
    };
    let announced = response.content_length().unwrap_or(0);
    if usize::try_from(announced).map_or(true, |announced| announced > bytes_max) {
        return Err(too_large());
    }
    let mut body = Vec::new();
    while let Some(chunk) =
        response.chunk().await.map_err(|e| Error::new(Code::ModelUnavailable, describe(&e)))?
    {
        if body.len() + chunk.len() > bytes_max {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// What went wrong, down to the root, without the address that was asked.
pub fn describe(error: &reqwest::Error) -> String {
    let mut text = if error.is_timeout() {
        "timed out".to_owned()
    } else if error.is_connect() {
        "could not connect".to_owned()
    } else {
        "the request failed".to_owned()
    };
    let mut root = error.source();
    while let Some(deeper) = root.and_then(|cause| cause.source()) {
        root = Some(deeper);
    }
    if let Some(root) = root {
        text = format!("{text}: {root}");
    }
    text
}

fn literal(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

fn redirects(max: usize, allow_private: bool) -> redirect::Policy {
    if max == 0 {
        return redirect::Policy::none();
    }
    redirect::Policy::custom(move |attempt| {
        let private = literal(attempt.url()).is_some_and(|address| !is_public(address));
        if attempt.previous().len() > max {
            attempt.error("too many redirects")
        } else if attempt.url().scheme() != "https" || (private && !allow_private) {
            attempt.error("redirected to an address that is refused")
        } else {
            attempt.follow()
        }
    })
}

/// Resolves names as the system does, then leaves out what is private.
struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<SocketAddr> =
                tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let public: Vec<_> =
                found.into_iter().filter(|address| is_public(address.ip())).collect();
            if public.is_empty() {
                return Err(REFUSED.into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}
