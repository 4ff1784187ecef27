//! Who is calling, found out before anything else about a request is looked at.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use mnemic_core::principal::{Principal, Standing};
use mnemic_core::{Code, Mnemic};

use super::body;
use super::peer::Peer;
use super::problem::{Problem, Result};
use super::rate::RateLimits;

#[derive(Clone)]
pub struct Gate {
    pub mnemic: Arc<Mnemic>,
    pub rates: Arc<RateLimits>,
    /// Whether all that a request does is done by batches that prove who its caller is.
    pub proves_caller: fn(&Parts) -> bool,
}

/// Lets a request through with its `Principal` among its extensions, or refuses it.
/// Routes behind this reveal nothing to strangers, not even whether they exist.
pub async fn require_token(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    if let Some(known) = gate.recognise(&parts) {
        return gate.trust(known, parts, body, next).await;
    }
    match gate.admit(&parts).await {
        Ok(principal) => next.run(request_of(parts, principal, body)).await,
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
        let principal = self.identify(parts).await?;
        self.rates.check_token(principal.token_id, &parts.method, &parts.uri)?;
        Ok(principal)
    }

    async fn identify(&self, parts: &Parts) -> Result<Principal> {
        let token = bearer(&parts.headers).unwrap_or_default();
        match self.mnemic.authenticate(token).await {
            Ok(principal) => Ok(principal),
            Err(error) => {
                if error.code() == Code::Unauthenticated {
                    let peer = Peer::of(&parts.extensions, &parts.headers);
                    self.rates.check_stranger(peer.address)?;
                }
                Err(Problem::from(error))
            }
        }
    }

    /// Who is calling, as far as it is remembered, if that is enough to begin with.
    fn recognise(&self, parts: &Parts) -> Option<(Principal, Standing)> {
        if !(self.proves_caller)(parts) {
            return None;
        }
        self.mnemic.recognise(bearer(&parts.headers)?)
    }

    /// Runs a request for whom its token spoke for before. Unless what it did has proven that it
    /// still does, its answer counts only if a look shows the same; somebody else's is made anew.
    async fn trust(
        &self,
        (principal, standing): (Principal, Standing),
        parts: Parts,
        body: Body,
        next: Next,
    ) -> Response {
        let bytes = match body::read(body).await {
            Ok(bytes) => bytes,
            Err(problem) => {
                return self.admit(&parts).await.err().unwrap_or(problem).into_response();
            }
        };
        let response = match self.rates.check_token(standing.token_id, &parts.method, &parts.uri) {
            Ok(()) => {
                let mut first = parts.clone();
                first.extensions.insert(standing.clone());
                let body = Body::from(bytes.clone());
                next.clone().run(request_of(first, principal.clone(), body)).await
            }
            Err(problem) => problem.into_response(),
        };
        if standing.is_proven() {
            return response;
        }
        // Something else of the workspace has changed where the same one was refused by the batch.
        let status = response.status();
        match self.identify(&parts).await {
            // What failed in the midst may have been done, and must not be done again.
            Ok(_) if status.is_server_error() => response,
            Ok(now) if now == principal && status != StatusCode::UNAUTHORIZED => response,
            Ok(now) => next.run(request_of(parts, now, Body::from(bytes))).await,
            Err(problem) => problem.into_response(),
        }
    }
}

fn request_of(mut parts: Parts, principal: Principal, body: Body) -> Request {
    parts.extensions.insert(principal);
    Request::from_parts(parts, body)
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
