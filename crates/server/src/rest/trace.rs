//! Traces of OpenTelemetry over HTTP (OTLP), in Protocol Buffers or JSON, compressed or not.

use std::io::Read as _;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use flate2::read::MultiGzDecoder;
use mnemic_core::action::{ACTIONS_AT_ONCE_MAX, NewAction};
use mnemic_core::principal::{Caller, Principal};
use mnemic_core::{Code, Error, Kind, Mnemic};
use serde_json::json;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::principal;
use super::responses::BodyFaults;
use crate::http::body;
use crate::http::problem::{Problem, Result, status};
use crate::otlp::{self, Span};

/// Where exporters send traces, by the protocol.
pub(crate) const TRACES: &str = "/v1/traces";
/// What a compressed body may come to.
const UNPACKED_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// `INVALID_ARGUMENT` of gRPC.
const INVALID_ARGUMENT: i64 = 3;

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(export))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Proto,
    Json,
}

/// What was taken of a request.
#[derive(Default)]
struct Taken {
    rejected: i64,
    /// Why, of the first.
    reason: String,
}

/// Takes traces (OTLP over HTTP). Spans of tool calls by the GenAI semantic conventions become
/// actions, each once however often it is sent; other spans are left alone. The token's workspace
/// is meant.
#[utoipa::path(
    post, path = "/v1/traces", tag = "telemetry", operation_id = "export_traces",
    request_body(
        content_type = "application/x-protobuf",
        description = "An ExportTraceServiceRequest in Protocol Buffers, or as application/json; \
                       with Content-Encoding gzip or without.",
    ),
    responses((status = 200, description = "An ExportTraceServiceResponse in the same form"), BodyFaults),
)]
async fn export(State(mnemic): State<Arc<Mnemic>>, request: Request) -> Result<Response> {
    let (parts, body) = request.into_parts();
    let principal = principal(&parts)?;
    let encoding = encoding(&parts.headers)?;
    let bytes = unpack(&parts.headers, body::read(body).await?)?;
    let spans = match encoding {
        Encoding::Proto => otlp::read_proto(&bytes).map_err(str::to_owned),
        Encoding::Json => otlp::read_json(&bytes),
    };
    let spans = match spans {
        Ok(spans) => spans,
        Err(why) => return Ok(refusal(encoding, &why)),
    };
    let taken = take(&mnemic, &principal, &spans).await?;
    Ok(answer(encoding, &taken))
}

async fn take(mnemic: &Mnemic, principal: &Principal, spans: &[Span]) -> Result<Taken> {
    let mut taken = Taken::default();
    let mut actions = Vec::new();
    for span in spans.iter().filter(|span| span.is_tool_call()) {
        match span.action().and_then(|action| check(mnemic, action)) {
            Ok(action) => actions.push(action),
            Err(why) => taken.reject(1, &why),
        }
    }
    let caller = Caller::new(principal.clone());
    for portion in actions.chunks(ACTIONS_AT_ONCE_MAX) {
        match mnemic.record_actions(&caller, portion).await {
            Ok(_) => {}
            // To send it again would not help.
            Err(e) if matches!(e.kind(), Kind::Conflict | Kind::Invalid) => {
                taken.reject(portion.len(), &e.to_string());
            }
            Err(e) => return Err(e.into()),
        }
    }
    Ok(taken)
}

/// One that cannot be taken must not keep the others out.
fn check(mnemic: &Mnemic, action: NewAction) -> std::result::Result<NewAction, String> {
    mnemic.check_action(&action).map_err(|e| e.to_string())?;
    Ok(action)
}

impl Taken {
    fn reject(&mut self, spans: usize, why: &str) {
        if self.rejected == 0 {
            why.clone_into(&mut self.reason);
        }
        self.rejected = self.rejected.saturating_add(i64::try_from(spans).unwrap_or(i64::MAX));
    }
}

fn encoding(headers: &HeaderMap) -> Result<Encoding> {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        "application/x-protobuf" => Ok(Encoding::Proto),
        "application/json" => Ok(Encoding::Json),
        _ => {
            let detail = "the Content-Type must be application/x-protobuf or application/json";
            Err(Problem::new(Code::UnsupportedMediaType, detail))
        }
    }
}

fn unpack(headers: &HeaderMap, bytes: Bytes) -> Result<Bytes> {
    let value = headers.get(CONTENT_ENCODING).and_then(|value| value.to_str().ok());
    match value.map(str::trim) {
        None | Some("" | "identity") => return Ok(bytes),
        Some("gzip") => {}
        Some(_) => {
            let detail = "the Content-Encoding must be gzip, or none";
            return Err(Problem::new(Code::UnsupportedMediaType, detail));
        }
    }
    let mut unpacked = Vec::new();
    let mut decoder = MultiGzDecoder::new(&*bytes).take(UNPACKED_BYTES_MAX + 1);
    decoder
        .read_to_end(&mut unpacked)
        .map_err(|_| Problem::new(Code::InvalidBody, "the body is not what gzip makes"))?;
    if unpacked.len() as u64 > UNPACKED_BYTES_MAX {
        let detail = format!("the body unpacks to more than {UNPACKED_BYTES_MAX} bytes");
        return Err(Error::new(Code::TooLarge, detail).into());
    }
    Ok(unpacked.into())
}

fn answer(encoding: Encoding, taken: &Taken) -> Response {
    let Taken { rejected, reason } = taken;
    match encoding {
        Encoding::Proto => {
            let body = otlp::answer(*rejected, reason);
            ([(CONTENT_TYPE, "application/x-protobuf")], body).into_response()
        }
        // Numbers of 64 bits are text, and what is empty is left out.
        Encoding::Json if *rejected == 0 => axum::Json(json!({})).into_response(),
        Encoding::Json => {
            let partial = json!({"rejectedSpans": rejected.to_string(), "errorMessage": reason});
            axum::Json(json!({"partialSuccess": partial})).into_response()
        }
    }
}

/// What cannot be read at all is refused as the protocol has it.
fn refusal(encoding: Encoding, why: &str) -> Response {
    let message = format!("the body is no ExportTraceServiceRequest: {why}");
    let refused: StatusCode = status(Code::InvalidBody);
    match encoding {
        Encoding::Proto => {
            let body = otlp::fault(INVALID_ARGUMENT, &message);
            (refused, [(CONTENT_TYPE, "application/x-protobuf")], body).into_response()
        }
        Encoding::Json => {
            let body = json!({"code": INVALID_ARGUMENT, "message": message});
            (refused, axum::Json(body)).into_response()
        }
    }
}
