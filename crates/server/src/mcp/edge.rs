//! The HTTP edge: who is calling and which tools they want to see, settled before the protocol
//! is looked at; and whatever fails on the way answers as JSON-RPC, so that a client can show it.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body::Body as _;
use mnemic_core::principal::Principal;
use mnemic_core::{Code, Error, Kind, Mnemic, Result};
use serde_json::{Value, json};

use super::Profile;

pub(super) const IDEMPOTENCY_KEY: &str = "idempotency-key";
const JSON: &str = "application/json";
/// The protocol library's own refusals are one line of text; more than this is not one.
const REFUSAL_BYTES_MAX: usize = 8 * 1024;
/// How the protocol library says that a body did not come to its end.
const BODY_BROKE_OFF: &str = "Failed to read request body";

pub(super) struct Guard {
    pub mnemic: Arc<Mnemic>,
    pub profile: Profile,
    pub body_bytes_max: usize,
}

pub(super) async fn guard(
    State(guard): State<Arc<Guard>>,
    mut request: Request,
    next: Next,
) -> Response {
    let announced_json = is_json(request.headers());
    match admit(&guard, &mut request).await {
        Ok(()) => as_json_rpc(next.run(request).await, announced_json).await,
        Err(error) => refusal(&error),
    }
}

/// Leaves the principal and the profile with the request, where the handler finds them. A
/// layer in front that has already asked for the token is not asked twice.
async fn admit(guard: &Guard, request: &mut Request) -> Result<()> {
    if request.extensions().get::<Principal>().is_none() {
        let token = bearer(request.headers()).unwrap_or_default();
        let principal = guard.mnemic.authenticate(token).await?;
        request.extensions_mut().insert(principal);
    }
    let announced = request.body().size_hint().lower();
    if announced > guard.body_bytes_max as u64 {
        let limit = guard.body_bytes_max;
        let detail = format!("the body of {announced} bytes is larger than the limit of {limit}");
        return Err(Error::new(Code::TooLarge, detail));
    }
    if request.headers().get(IDEMPOTENCY_KEY).is_some_and(|key| key.to_str().is_err()) {
        return Err(Error::invalid("Idempotency-Key", "must be visible ASCII characters"));
    }
    let pinned = request.extensions().get::<Principal>().and_then(|principal| principal.profile);
    let wanted = wanted_profile(request.uri().query())?;
    request.extensions_mut().insert(pinned.or(wanted).unwrap_or(guard.profile));
    Ok(())
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn wanted_profile(query: Option<&str>) -> Result<Option<Profile>> {
    let mut pairs = query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| *name == "profile").map(|(_, word)| word.parse()).transpose()
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    content_type.is_some_and(|value| value.starts_with(JSON))
}

fn refusal(error: &Error) -> Response {
    let status = match error.kind() {
        Kind::Unauthenticated => StatusCode::UNAUTHORIZED,
        Kind::Invalid => StatusCode::BAD_REQUEST,
        Kind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Kind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let detail = if status == StatusCode::INTERNAL_SERVER_ERROR {
        tracing::error!(error = ?error, "an MCP request could not be admitted");
        Code::Internal.title().to_owned()
    } else {
        error.to_string()
    };
    let body = json_rpc_error(status, &detail, Some(error.code()));
    let mut response = (status, axum::Json(body)).into_response();
    let headers = response.headers_mut();
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"mnemic\""));
    }
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// Gives the protocol library's plain-text refusals the form of everything else. It answers
/// JSON that it cannot read with 415, though the media type was right, and a body that breaks
/// off with 500, though the fault is not ours: both are a 400.
async fn as_json_rpc(response: Response, announced_json: bool) -> Response {
    let status = response.status();
    if status.as_u16() < 400 || is_json(response.headers()) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let bytes = to_bytes(body, REFUSAL_BYTES_MAX).await.unwrap_or_default();
    let message = String::from_utf8_lossy(&bytes);
    let body = if status == StatusCode::UNSUPPORTED_MEDIA_TYPE && announced_json {
        parts.status = StatusCode::BAD_REQUEST;
        parse_error(&message)
    } else {
        if message.starts_with(BODY_BROKE_OFF) {
            parts.status = StatusCode::BAD_REQUEST;
        }
        json_rpc_error(parts.status, &message, None)
    };
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    Response::from_parts(parts, Body::from(body.to_string()))
}

fn parse_error(message: &str) -> Value {
    let detail = format!("the body is not a JSON-RPC message: {message}");
    json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": detail}})
}

fn json_rpc_error(status: StatusCode, message: &str, code: Option<Code>) -> Value {
    let number = if status.is_server_error() { -32603 } else { -32600 };
    let mut error = json!({"code": number, "message": message});
    if let Some(code) = code {
        error["data"] = json!({"code": code.word()});
    }
    json!({"jsonrpc": "2.0", "id": null, "error": error})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_read_from_the_address() {
        assert_eq!(wanted_profile(None).unwrap(), None);
        assert_eq!(wanted_profile(Some("a=b&profile=full")).unwrap(), Some(Profile::Full));
        assert_eq!(wanted_profile(Some("profile=agent")).unwrap(), Some(Profile::Agent));
        let error = wanted_profile(Some("profile=everything")).unwrap_err();
        assert!(error.to_string().contains("agent, full"), "{error}");
    }

    #[test]
    fn the_scheme_may_be_written_in_any_case() {
        let token = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, HeaderValue::from_static(value));
            bearer(&headers).map(str::to_owned)
        };
        assert_eq!(token("Bearer abc").as_deref(), Some("abc"));
        assert_eq!(token("bearer abc").as_deref(), Some("abc"));
        assert_eq!(token("Basic abc"), None);
        assert_eq!(token("abc"), None);
    }
}
