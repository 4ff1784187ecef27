//! How a request becomes values. Whatever is wrong with it is answered as a problem that names
//! the place; axum's own plain-text refusals never reach a client.

use std::fmt::Write as _;
use std::str::FromStr;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use mnemic_core::principal::{Caller, Principal, RetryKey, Standing};
use mnemic_core::{Code, Error};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use super::json;
use crate::http::body;
use crate::http::problem::{Problem, Result};
use crate::wire::Object;

const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Who is calling, as the gate found out.
pub(super) struct Auth(pub Principal);

impl<S: Send + Sync> FromRequestParts<S> for Auth {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        principal(parts).map(Self)
    }
}

pub(super) fn principal(parts: &Parts) -> Result<Principal> {
    let found = parts.extensions.get::<Principal>().cloned();
    found.ok_or_else(|| Problem::new(Code::Unauthenticated, "a bearer token is needed"))
}

/// What the caller rests on, where the gate only remembered them.
fn standing(parts: &Parts) -> Option<Standing> {
    parts.extensions.get().cloned()
}

/// The `{id}` of the path.
pub(super) struct Id<T>(pub T);

impl<S, T> FromRequestParts<S> for Id<T>
where
    S: Send + Sync,
    T: FromStr<Err = Error> + Send,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        Ok(Self(segment(parts, state, "id").await?.parse()?))
    }
}

/// The `{name}` of the path.
pub(super) struct Name(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        segment(parts, state, "name").await.map(Self)
    }
}

/// The `{run_id}` of the path.
pub(super) struct RunId(pub String);

impl<S: Send + Sync> FromRequestParts<S> for RunId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        segment(parts, state, "run_id").await.map(Self)
    }
}

/// The `{id}` of a conversation in the path, which need not be a UUID.
pub(super) struct ConversationId(pub String);

impl<S: Send + Sync> FromRequestParts<S> for ConversationId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        segment(parts, state, "id").await.map(Self)
    }
}

/// The `{id}` of a connection in the path, which need not be a UUID.
pub(super) struct ConnectionId(pub String);

impl<S: Send + Sync> FromRequestParts<S> for ConnectionId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        segment(parts, state, "id").await.map(Self)
    }
}

/// The `{user}` of the path.
pub(super) struct UserSegment(pub String);

impl<S: Send + Sync> FromRequestParts<S> for UserSegment {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        segment(parts, state, "user").await.map(Self)
    }
}

/// The `{slot}` of the path.
pub(super) struct SlotSegment(pub String);

impl<S: Send + Sync> FromRequestParts<S> for SlotSegment {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        segment(parts, state, "slot").await.map(Self)
    }
}

/// The `{agent}` of the path.
pub(super) struct AgentSegment(pub String);

impl<S: Send + Sync> FromRequestParts<S> for AgentSegment {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        segment(parts, state, "agent").await.map(Self)
    }
}

/// The `{key}` of the path.
pub(super) struct KeySegment(pub String);

impl<S: Send + Sync> FromRequestParts<S> for KeySegment {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        segment(parts, state, "key").await.map(Self)
    }
}

/// The `{ws}` of the path.
pub(super) struct WorkspaceSegment(pub String);

impl<S: Send + Sync> FromRequestParts<S> for WorkspaceSegment {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        segment(parts, state, "ws").await.map(Self)
    }
}

async fn segment<S: Send + Sync>(parts: &mut Parts, state: &S, name: &str) -> Result<String> {
    let params = RawPathParams::from_request_parts(parts, state).await.map_err(|e| bad_path(&e))?;
    let found = params.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_owned());
    found.ok_or_else(Problem::no_such_address)
}

pub(super) fn bad_path(rejection: &RawPathParamsRejection) -> Problem {
    match rejection {
        RawPathParamsRejection::InvalidUtf8InPathParam(_) => {
            Problem::new(Code::InvalidField, "path: is not valid UTF-8")
        }
        _ => Problem::no_such_address(),
    }
}

/// The parameters behind the `?`. Unknown ones are refused by name.
pub(super) struct Query<T>(pub T);

impl<S, T> FromRequestParts<S> for Query<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let query = parts.uri.query().unwrap_or_default();
        // A form decoder would put replacement characters in the place of what it cannot read.
        if percent_encoding::percent_decode_str(query).decode_utf8().is_err() {
            return Err(Problem::new(Code::InvalidField, "query: is not valid UTF-8"));
        }
        match axum::extract::Query::<T>::try_from_uri(&parts.uri) {
            Ok(axum::extract::Query(value)) => Ok(Self(value)),
            Err(rejection) => {
                let text = rejection.body_text();
                let detail = text.strip_prefix("Failed to deserialize query string: ");
                let detail = json::shorten(detail.unwrap_or(&text));
                Err(Problem::new(Code::InvalidField, detail))
            }
        }
    }
}

/// For routes that take no parameters at all.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoParameters {}

/// What a body can be read as.
pub(super) trait Payload: Sized {
    fn read(headers: &HeaderMap, bytes: &[u8]) -> Result<Self>;
}

/// One of something, or several to be taken in one transaction.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum OneOrMany<T> {
    One(Box<T>),
    /// At most 1,000.
    Many(Vec<T>),
}

impl<T: DeserializeOwned> Payload for OneOrMany<T> {
    fn read(headers: &HeaderMap, bytes: &[u8]) -> Result<Self> {
        // The first character decides, so that a mistake is reported for the form meant.
        if bytes.trim_ascii_start().first() == Some(&b'[') {
            return JsonArray::read(headers, bytes).map(|JsonArray(many)| Self::Many(many));
        }
        Json::read(headers, bytes).map(|Json(one)| Self::One(Box::new(one)))
    }
}

/// A JSON object that must be there.
pub(super) struct Json<T>(pub T);

impl<T: DeserializeOwned> Payload for Json<T> {
    fn read(headers: &HeaderMap, bytes: &[u8]) -> Result<Self> {
        check_content_type(headers)?;
        json::parse(bytes).map(|Object(value)| Self(value))
    }
}

/// A JSON array of objects that must be there.
pub(super) struct JsonArray<T>(pub Vec<T>);

impl<T: DeserializeOwned> Payload for JsonArray<T> {
    fn read(headers: &HeaderMap, bytes: &[u8]) -> Result<Self> {
        check_content_type(headers)?;
        let objects: Vec<Object<T>> = json::parse(bytes)?;
        Ok(Self(objects.into_iter().map(|Object(value)| value).collect()))
    }
}

/// A JSON object that may be left out or null.
pub(super) struct OptionalJson<T>(pub T);

impl<T: DeserializeOwned + Default> Payload for OptionalJson<T> {
    fn read(headers: &HeaderMap, bytes: &[u8]) -> Result<Self> {
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        check_content_type(headers)?;
        let object: Option<Object<T>> = json::parse(bytes)?;
        Ok(Self(object.unwrap_or_default().0))
    }
}

/// For requests that say all in their path. Some clients send `{}` with every POST.
pub(super) struct NoBody;

impl Payload for NoBody {
    fn read(_: &HeaderMap, bytes: &[u8]) -> Result<Self> {
        match bytes.trim_ascii() {
            b"" | b"{}" => Ok(Self),
            _ => Err(Problem::new(Code::InvalidBody, "this request takes no body")),
        }
    }
}

fn check_content_type(headers: &HeaderMap) -> Result<()> {
    let unsupported = || {
        let detail = "the Content-Type must be application/json, in UTF-8";
        Problem::new(Code::UnsupportedMediaType, detail)
    };
    let value = headers.get(CONTENT_TYPE).ok_or_else(unsupported)?;
    let value = value.to_str().map_err(|_| unsupported())?.to_ascii_lowercase();
    let mut parts = value.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    let is_json = essence == "application/json"
        || (essence.starts_with("application/") && essence.ends_with("+json"));
    let is_utf8 = parts
        .filter_map(|parameter| parameter.strip_prefix("charset="))
        .all(|charset| matches!(charset.trim_matches('"'), "utf-8" | "utf8"));
    if is_json && is_utf8 { Ok(()) } else { Err(unsupported()) }
}

/// The body of a request that has no lasting effect, or one that is harmless to repeat.
pub(super) struct Body<P>(pub P);

impl<S, P> FromRequest<S> for Body<P>
where
    S: Send + Sync,
    P: Payload,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let (mut parts, body) = request.into_parts();
        Query::<NoParameters>::from_request_parts(&mut parts, state).await?;
        let bytes = body::read(body).await?;
        P::read(&parts.headers, &bytes).map(Self)
    }
}

/// The caller of a request without a body that changes something, with its `Idempotency-Key`.
pub(super) struct KeyedCaller(pub Caller);

impl<S: Send + Sync> FromRequestParts<S> for KeyedCaller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let principal = principal(parts)?;
        let retry = retry_key(parts, b"")?;
        Ok(Self(Caller { principal, retry, standing: standing(parts) }))
    }
}

/// A request that changes something: its body, and a caller that knows its `Idempotency-Key`.
pub(super) struct Keyed<P> {
    pub caller: Caller,
    pub body: P,
}

impl<S, P> FromRequest<S> for Keyed<P>
where
    S: Send + Sync,
    P: Payload,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let KeyedWith { caller, parameters: NoParameters {}, body } =
            KeyedWith::from_request(request, state).await?;
        Ok(Self { caller, body })
    }
}

/// The same, of a request that takes parameters too.
pub(super) struct KeyedWith<Q, P> {
    pub caller: Caller,
    pub parameters: Q,
    pub body: P,
}

impl<S, Q, P> FromRequest<S> for KeyedWith<Q, P>
where
    S: Send + Sync,
    Q: DeserializeOwned + Send,
    P: Payload,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let (mut parts, body) = request.into_parts();
        let principal = principal(&parts)?;
        let Query(parameters) = Query::from_request_parts(&mut parts, state).await?;
        let bytes = body::read(body).await?;
        let retry = retry_key(&parts, &bytes)?;
        let body = P::read(&parts.headers, &bytes)?;
        let caller = Caller { principal, retry, standing: standing(&parts) };
        Ok(Self { caller, parameters, body })
    }
}

fn retry_key(parts: &Parts, body: &[u8]) -> Result<Option<RetryKey>> {
    let Some(key) = parts.headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
    let key = key.to_str().map_err(|_| {
        Problem::new(Code::InvalidField, "Idempotency-Key: must be visible ASCII characters")
    })?;
    let digest = Sha256::new()
        .chain_update(parts.method.as_str())
        .chain_update([0])
        .chain_update(parts.uri.path_and_query().map_or("", PathAndQuery::as_str))
        .chain_update([0])
        .chain_update(body)
        .finalize();
    let fingerprint = digest.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    Ok(Some(RetryKey { key: key.to_owned(), fingerprint }))
}
