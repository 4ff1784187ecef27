//! Who is calling, found out before anything else about a request is looked at.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use mnemic_core::principal::Principal;
use mnemic_core::{Code, Mnemic};

use super::peer::Peer;
use super::problem::{Problem, Result};
use super::rate::RateLimits;

#[derive(Clone)]
pub struct Gate {
    pub mnemic: Arc<Mnemic>,
    pub rates: Arc<RateLimits>,
}

/// Lets a request through with its `Principal` among its extensions, or refuses it.
/// Routes behind this reveal nothing to strangers, not even whether they exist.
pub async fn require_token(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    match gate.admit(&parts).await {
        Ok(principal) => {
            parts.extensions.insert(principal);
            next.run(Request::from_parts(parts, body)).await
        }
        Err(problem) => problem.into_response(),
    }
}

/// Counts a request for the rate limits and leaves it to the surface behind to refuse
/// strangers in its own form.
pub async fn meter(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    match gate.admit(&parts).await {
        Ok(principal) => drop(parts.extensions.insert(principal)),
        Err(problem) if problem.code() == Code::Unauthenticated => {}
        Err(problem) => return problem.into_response(),
    }
    next.run(Request::from_parts(parts, body)).await
}

impl Gate {
    async fn admit(&self, parts: &Parts) -> Result<Principal> {
        let token = bearer(&parts.headers).unwrap_or_default();
        match self.mnemic.authenticate(token).await {
            Ok(principal) => {
                self.rates.check_token(principal.token_id, &parts.method, &parts.uri)?;
                Ok(principal)
            }
            Err(error) => {
                if error.code() == Code::Unauthenticated {
                    let peer = Peer::of(&parts.extensions, &parts.headers);
                    self.rates.check_stranger(peer.address)?;
                }
                Err(Problem::from(error))
            }
        }
    }
}

/// The token of `Authorization: Bearer <token>`; the scheme's name is not case-sensitive.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn only_bearer_tokens_are_read() {
        let mut headers = HeaderMap::new();
        assert_eq!(bearer(&headers), None);
        for (value, token) in [
            ("Bearer abc", Some("abc")),
            ("bearer  abc ", Some("abc")),
            ("Basic abc", None),
            ("Bearer", None),
            ("", None),
        ] {
            headers.insert(AUTHORIZATION, HeaderValue::from_static(value));
            assert_eq!(bearer(&headers), token, "{value}");
        }
        headers.insert(AUTHORIZATION, HeaderValue::from_bytes(b"Bearer \xff").unwrap());
        assert_eq!(bearer(&headers), None);
    }
}
