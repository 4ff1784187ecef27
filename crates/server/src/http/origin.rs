//! Keeps web pages of others out.
//!
//! A page that a user happens to visit can make the browser call servers on the user's own
//! machine, also under a name of its own that it lets point there (DNS rebinding). Browsers
//! say which page is asking (`Origin`) and which name they were given (`Host`); both are
//! checked on every route.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use mnemic_core::Code;

use super::problem::Problem;

#[derive(Debug, Clone, Default)]
pub struct OriginOptions {
    /// Whether the server listens on a loopback address only. Then no other name can be meant
    /// honestly, and `Host` is checked.
    pub on_loopback: bool,
    /// Further names that the server goes by, with or without a port.
    pub allowed_hosts: Vec<String>,
    /// Further origins whose pages may call it, such as `https://app.example.com`.
    pub allowed_origins: Vec<String>,
}

pub async fn check(
    State(options): State<Arc<OriginOptions>>,
    request: Request,
    next: Next,
) -> Response {
    match options.refusal(request.uri(), request.headers()) {
        None => next.run(request).await,
        Some(detail) => Problem::new(Code::ForbiddenOrigin, detail).into_response(),
    }
}

impl OriginOptions {
    fn refusal(&self, uri: &Uri, headers: &HeaderMap) -> Option<&'static str> {
        let host = match uri.authority() {
            Some(authority) => Some(Some(authority.clone())),
            None => headers.get(HOST).map(authority),
        };
        // No name at all is no browser's request.
        let host_is_ours = match &host {
            None => true,
            Some(None) => false,
            Some(Some(host)) => !self.on_loopback || is_loopback(host) || self.names(host),
        };
        if !host_is_ours {
            return Some("the Host header names somebody else; add it to the allowed hosts");
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        let host = host.flatten();
        let welcome = origins.all(|origin| self.welcomes(origin, host.as_ref()));
        (!welcome).then_some("pages of that origin may not call this server")
    }

    fn names(&self, host: &Authority) -> bool {
        self.allowed_hosts.iter().any(|allowed| {
            allowed.eq_ignore_ascii_case(host.as_str()) || allowed.eq_ignore_ascii_case(host.host())
        })
    }

    fn welcomes(&self, origin: &HeaderValue, host: Option<&Authority>) -> bool {
        let Ok(text) = origin.to_str() else { return false };
        if self.allowed_origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(text)) {
            return true;
        }
        let Ok(uri) = text.parse::<Uri>() else { return false };
        let (Some("http" | "https"), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return false;
        };
        is_loopback(authority) || host == Some(authority)
    }
}

fn authority(value: &HeaderValue) -> Option<Authority> {
    value.to_str().ok()?.parse().ok()
}

fn is_loopback(authority: &Authority) -> bool {
    let host = authority.host();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    // Userinfo has no place here: `localhost@evil.example` must not pass for localhost.
    !authority.as_str().contains('@')
        && (host.eq_ignore_ascii_case("localhost")
            || bare.parse().is_ok_and(|ip: std::net::IpAddr| ip.to_canonical().is_loopback()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(options: &OriginOptions, host: Option<&str>, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        if let Some(host) = host {
            headers.insert(HOST, HeaderValue::from_str(host).unwrap());
        }
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        options.refusal(&Uri::from_static("/v1/tokens"), &headers).is_some()
    }

    #[test]
    fn a_loopback_server_answers_to_its_own_names_only() {
        let options = OriginOptions {
            on_loopback: true,
            allowed_hosts: vec!["mnemic.internal".to_owned()],
            ..OriginOptions::default()
        };
        for host in [
            "localhost",
            "LOCALHOST:7077",
            "127.0.0.1:7077",
            "127.0.0.2",
            "[::1]:7077",
            "mnemic.internal:80",
        ] {
            assert!(!refused(&options, Some(host), None), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:7077",
            "localhost.evil.example",
            "localhost@evil",
            "10.0.0.1",
            "",
            "a b",
        ] {
            assert!(refused(&options, Some(host), None), "{host}");
        }
        assert!(!refused(&options, None, None));
        let public = OriginOptions::default();
        assert!(!refused(&public, Some("mnemic.example.com"), None));
    }

    #[test]
    fn pages_of_others_are_refused_everywhere() {
        let options = OriginOptions {
            allowed_origins: vec!["https://app.example.com".to_owned()],
            ..OriginOptions::default()
        };
        let host = Some("mnemic.example.com");
        for origin in [
            "https://mnemic.example.com",
            "https://app.example.com",
            "http://localhost:5173",
            "http://127.0.0.1",
            "http://[::1]:80",
        ] {
            assert!(!refused(&options, host, Some(origin)), "{origin}");
        }
        for origin in [
            "https://evil.example",
            "https://mnemic.example.com:444",
            "https://mnemic.example.com.evil.example",
            "null",
            "file://",
            "chrome-extension://abc",
            "http://localhost@evil.example",
        ] {
            assert!(refused(&options, host, Some(origin)), "{origin}");
        }
    }
}
