//! The faults that every route can answer with, for the OpenAPI document.

use std::collections::BTreeMap;

use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{Content, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, PartialSchema as _, ToSchema as _};

use crate::http::problem::{MEDIA_TYPE, ProblemBody};

/// What a request without a body can meet.
pub(super) struct ReadFaults;

/// What a request with a body can meet.
pub(super) struct BodyFaults;

/// What a request that changes something can meet.
pub(super) struct WriteFaults;

/// What putting something in its place can meet: no key, but perhaps no room, or somebody else who
/// is at it.
pub(super) struct PutFaults;

/// What a probe can meet.
pub(super) struct ProbeFaults;

/// What the probe of readiness can meet.
pub(super) struct ReadyFaults;

const PROBE: &[u16] = &[403, 500];
const READ: &[u16] = &[400, 401, 403, 404, 429, 500, 503];
const BODY: &[u16] = &[413, 415];
const WRITE: &[u16] = &[409, 422];

impl IntoResponses for ReadFaults {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        faults(&[READ])
    }
}

impl IntoResponses for BodyFaults {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        faults(&[READ, BODY])
    }
}

impl IntoResponses for WriteFaults {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        faults(&[READ, BODY, WRITE])
    }
}

impl IntoResponses for PutFaults {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        faults(&[READ, BODY, &[409]])
    }
}

impl IntoResponses for ProbeFaults {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        faults(&[PROBE])
    }
}

impl IntoResponses for ReadyFaults {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        faults(&[PROBE, &[503]])
    }
}

fn faults(groups: &[&[u16]]) -> BTreeMap<String, RefOr<Response>> {
    let statuses = groups.iter().flat_map(|group| group.iter());
    statuses.map(|&status| (status.to_string(), RefOr::T(fault(status)))).collect()
}

fn fault(status: u16) -> Response {
    let schema = Ref::from_schema_name(ProblemBody::name());
    let response = ResponseBuilder::new()
        .description(description(status))
        .content(MEDIA_TYPE, Content::new(Some(schema)));
    let header = |name, kind, text: &str| {
        let schema = ObjectBuilder::new().schema_type(kind).build();
        (name, HeaderBuilder::new().schema(Some(schema)).description(Some(text)).build())
    };
    let (name, header) = match status {
        401 => header("WWW-Authenticate", Type::String, "`Bearer`"),
        429 | 503 => header("Retry-After", Type::Integer, "Seconds to wait"),
        _ => return response.build(),
    };
    response.header(name, header).build()
}

fn description(status: u16) -> &'static str {
    match status {
        400 => "A parameter, a field or the body is wrong; `detail` names it",
        401 => "No valid token was given",
        403 => "The token's role or the page's origin does not allow this",
        404 => "There is no such thing, or it belongs to another workspace",
        409 => "The state does not allow this",
        413 => "The body is larger than the limit",
        415 => "The body is not JSON",
        422 => "The `Idempotency-Key` was used for another request",
        429 => "Too many requests",
        500 => "A fault of ours",
        _ => "A part is away or overloaded; try again later",
    }
}

/// Schemas that no route names directly.
pub(super) fn problem_schema() -> (String, RefOr<utoipa::openapi::Schema>) {
    (ProblemBody::name().into_owned(), ProblemBody::schema())
}
