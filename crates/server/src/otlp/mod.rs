//! Traces of OpenTelemetry: spans of tool calls, as the GenAI semantic conventions name them,
//! become actions.
//!
//! Of a span only the tool's name, the session, the agent, the kind of error and the times are
//! read; arguments, results and messages are not kept. Whatever else a trace holds is taken and
//! left alone, so that one exporter can serve several receivers.

mod json;
mod proto;

use jiff::Timestamp;
use mnemic_core::action::{NewAction, Outcome};
use mnemic_core::ids::ActionId;
use sha2::{Digest as _, Sha256};
use uuid::Builder;

pub(crate) use json::read as read_json;
pub(crate) use proto::{answer, fault, read as read_proto};

const OPERATION: &str = "gen_ai.operation.name";
const EXECUTE_TOOL: &str = "execute_tool";
const TOOL: &str = "gen_ai.tool.name";
const SESSIONS: [&str; 2] = ["gen_ai.conversation.id", "session.id"];
const AGENTS: [&str; 3] = ["gen_ai.agent.name", "gen_ai.agent.id", "service.name"];
const ERROR: &str = "error.type";
const TRACE_BYTES: usize = 16;
const SPAN_BYTES: usize = 8;
const NANOS_PER_MILLI: u64 = 1_000_000;

/// All attributes that are read; others are not even kept in memory.
const KNOWN: [&str; 8] = [
    OPERATION,
    TOOL,
    "gen_ai.conversation.id",
    "session.id",
    "gen_ai.agent.name",
    "gen_ai.agent.id",
    "service.name",
    ERROR,
];

/// Texts by name, of those that are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Attributes(Vec<(&'static str, String)>);

impl Attributes {
    fn put(&mut self, name: &str, value: String) {
        if let Some(known) = KNOWN.iter().find(|known| **known == name) {
            self.0.push((known, value));
        }
    }

    fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }
}

/// A span, as far as it is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Span {
    trace_id: Vec<u8>,
    /// Within its trace.
    id: Vec<u8>,
    name: String,
    start_nanos: u64,
    end_nanos: u64,
    failed: bool,
    message: String,
    attributes: Attributes,
    /// Of what made the span.
    resource: Attributes,
}

impl Span {
    pub(crate) fn is_tool_call(&self) -> bool {
        self.attributes.get(OPERATION) == Some(EXECUTE_TOOL)
    }

    /// The action that it tells of, or what it lacks.
    pub(crate) fn action(&self) -> Result<NewAction, String> {
        if self.trace_id.len() != TRACE_BYTES || self.id.len() != SPAN_BYTES {
            return Err("a span has no valid trace id and span id".to_owned());
        }
        let named = self.name.strip_prefix(EXECUTE_TOOL).map(str::trim);
        let tool = self.attributes.get(TOOL).or(named).filter(|name| !name.is_empty());
        let tool = tool.ok_or_else(|| format!("a span of a tool call has no {TOOL}"))?;
        let at = i64::try_from(self.start_nanos / 1_000).ok();
        let at =
            at.filter(|micros| *micros > 0).and_then(|it| Timestamp::from_microsecond(it).ok());
        let at = at.ok_or("a span has no valid start time")?;
        let session = SESSIONS.iter().find_map(|name| self.find(name));
        let error = self.attributes.get(ERROR);
        let failed = self.failed || error.is_some();
        let latency = self.end_nanos.checked_sub(self.start_nanos);
        Ok(NewAction {
            id: Some(self.action_id()),
            agent_id: AGENTS.iter().find_map(|name| self.find(name)).map(str::to_owned),
            outcome: if failed { Outcome::Failure } else { Outcome::Success },
            error_code: failed.then(|| error.unwrap_or(class_in(&self.message)).to_owned()),
            latency_ms: latency.and_then(|nanos| i64::try_from(nanos / NANOS_PER_MILLI).ok()),
            at: Some(at),
            ..NewAction::new(session.map_or_else(|| hex(&self.trace_id), str::to_owned), tool)
        })
    }

    fn find(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).or_else(|| self.resource.get(name))
    }

    /// Always the same for a span, so that one that is sent again counts once.
    fn action_id(&self) -> ActionId {
        let digest = Sha256::new().chain_update(&self.trace_id).chain_update(&self.id);
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest.finalize()[..16]);
        ActionId(Builder::from_custom_bytes(bytes).into_uuid())
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The class that a message begins with, if it does: whatever else it says is free text.
fn class_in(message: &str) -> &str {
    let class = message.split([':', ' ', '(']).next().unwrap_or_default();
    let is_class = ["Error", "Exception"].iter().any(|ending| class.ends_with(ending));
    if is_class { class } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span() -> Span {
        let mut attributes = Attributes::default();
        for (name, value) in [
            (OPERATION, EXECUTE_TOOL),
            (TOOL, "search_flight"),
            ("gen_ai.conversation.id", "run-1"),
            ("gen_ai.tool.call.arguments", "zanzibar"),
        ] {
            attributes.put(name, value.to_owned());
        }
        Span {
            trace_id: vec![1; 16],
            id: vec![2; 8],
            name: "execute_tool search_flight".to_owned(),
            start_nanos: 1_767_225_600_000_000_000,
            end_nanos: 1_767_225_600_250_000_000,
            attributes,
            ..Span::default()
        }
    }

    #[test]
    fn a_span_of_a_tool_call_is_an_action() {
        let action = span().action().unwrap();
        assert_eq!(
            (action.action_type.as_str(), action.session_id.as_str()),
            ("search_flight", "run-1")
        );
        assert_eq!((action.outcome, action.latency_ms), (Outcome::Success, Some(250)));
        assert_eq!(action.at.unwrap().to_string(), "2026-01-01T00:00:00Z");
        assert_eq!(action.id, span().action().unwrap().id);
        assert!(!format!("{:?}", span()).contains("zanzibar"));
    }

    #[test]
    fn what_a_span_lacks_is_taken_from_elsewhere_or_named() {
        let mut bare = span();
        bare.attributes.0.truncate(1);
        bare.resource.put("service.name", "booker".to_owned());
        let action = bare.action().unwrap();
        assert_eq!(
            (action.action_type.as_str(), action.agent_id.as_deref()),
            ("search_flight", Some("booker"))
        );
        assert_eq!(action.session_id, "01".repeat(16));
        let nameless = Span { name: "call".to_owned(), ..bare.clone() };
        assert!(nameless.action().unwrap_err().contains(TOOL));
        assert!(Span { id: vec![], ..bare.clone() }.action().is_err());
        assert!(Span { start_nanos: 0, ..bare }.action().is_err());
    }

    #[test]
    fn an_error_is_a_failure_with_its_type() {
        let mut failed = span();
        failed.attributes.put(ERROR, "PaymentError".to_owned());
        let action = failed.action().unwrap();
        assert_eq!(
            (action.outcome, action.error_code.as_deref()),
            (Outcome::Failure, Some("PaymentError"))
        );
        let told = Span { failed: true, message: "KeyError: x".to_owned(), ..span() };
        assert_eq!(told.action().unwrap().error_code.as_deref(), Some("KeyError"));
        let secret = Span { failed: true, message: "hunter2".to_owned(), ..span() };
        assert_eq!(secret.action().unwrap().error_code.as_deref(), Some(""));
    }
}
