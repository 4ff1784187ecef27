//! What a client says of a chat beside its body, and what of the upstream's headers it gets.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use mnemic_core::Code;
use mnemic_core::conversation::ConversationId;

use super::{Fault, Result};

pub(super) const CONVERSATION: HeaderName = HeaderName::from_static("x-mnemic-conversation");
pub(super) const RUN: HeaderName = HeaderName::from_static("x-mnemic-run-id");
pub(super) const SKIPPED: HeaderName = HeaderName::from_static("x-mnemic-memory-skipped");
const AGENT: HeaderName = HeaderName::from_static("x-mnemic-agent");
const MEMORY: HeaderName = HeaderName::from_static("x-mnemic-memory");

const AGENT_CHARS_MAX: usize = 128;
const TOLD_CHARS_MAX: usize = 200;

/// What memory does for a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Nothing is injected and nothing kept.
    Off,
    /// Injected, not kept.
    Read,
    Write,
}

#[derive(Debug)]
pub(super) struct Wishes {
    pub(super) mode: Mode,
    pub(super) conversation: Option<String>,
    pub(super) agent: Option<String>,
}

impl Wishes {
    pub(super) fn read(headers: &HeaderMap) -> Result<Self> {
        let mode = match text(headers, &MEMORY)? {
            None | Some("write") => Mode::Write,
            Some("read") => Mode::Read,
            Some("off") => Mode::Off,
            Some(_) => return Err(wrong(&MEMORY, "must be off, read or write")),
        };
        let conversation = text(headers, &CONVERSATION)?.map(str::parse::<ConversationId>);
        let conversation =
            conversation.transpose().map_err(|e| wrong(&CONVERSATION, &e.to_string()))?;
        let agent = text(headers, &AGENT)?.map(str::to_owned);
        if agent.as_ref().is_some_and(|agent| agent.is_empty() || agent.len() > AGENT_CHARS_MAX) {
            return Err(wrong(&AGENT, "must have 1 to 128 characters"));
        }
        Ok(Self { mode, conversation: conversation.map(|it| it.as_str().to_owned()), agent })
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>> {
    let value = headers.get(name).map(HeaderValue::to_str).transpose();
    Ok(value.map_err(|_| wrong(name, "must be visible ASCII characters"))?.map(str::trim))
}

fn wrong(name: &HeaderName, problem: &str) -> Fault {
    Fault::new(Code::InvalidField, format!("{name}: {problem}"))
}

/// Adds a header of ours, with what cannot be in one left out.
pub(super) fn tell(headers: &mut HeaderMap, name: HeaderName, text: &str) {
    let plain = |c: &char| c.is_ascii_graphic() || *c == ' ';
    let text: String = text.chars().filter(plain).take(TOLD_CHARS_MAX).collect();
    if let Ok(value) = HeaderValue::from_str(&text) {
        headers.insert(name, value);
    }
}

pub(super) fn is_event_stream(headers: &[(String, Vec<u8>)]) -> bool {
    let kind = headers.iter().find(|(name, _)| name == "content-type");
    kind.is_some_and(|(_, value)| value.to_ascii_lowercase().starts_with(b"text/event-stream"))
}

/// The upstream's answer, with those of its headers that speak of the answer. What speaks of the
/// connection or sets cookies stays behind.
pub(super) fn response(status: u16, headers: Vec<(String, Vec<u8>)>, body: Body) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut response = (status, body).into_response();
    // The body came without a kind of its own.
    response.headers_mut().clear();
    for (name, value) in headers.into_iter().filter(|(name, _)| is_passed_on(name)) {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
}

fn is_passed_on(name: &str) -> bool {
    matches!(name, "content-type" | "content-length" | "retry-after" | "retry-after-ms")
        || matches!(name, "x-request-id" | "x-should-retry")
        || name.starts_with("x-ratelimit-")
        || name.starts_with("openai-")
}
