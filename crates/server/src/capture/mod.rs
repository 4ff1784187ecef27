//! Everything that an agent does here is an action: which call of which surface is which, written
//! down before its result goes out.
//!
//! Of a call only its name, the ids of records that it was about, its outcome and its time are
//! looked at. Looking after the installation, and telemetry's own reads, are no actions.

mod rest;
mod twin;

use axum::http::HeaderMap;
use mnemic_core::action::Subject;
use serde_json::{Map, Value};
use uuid::Uuid;

pub(crate) use rest::{Targets, layer};
#[cfg(test)]
pub(crate) use twin::all as twins;

/// Says which session a call is part of.
pub const SESSION: &str = "mnemic-session";
/// Where clients of MCP say it.
const MCP_SESSION: &str = "mcp-session-id";

/// Nouns of tools by which an installation is looked after.
const UNCAPTURED: [&str; 5] = ["workspace", "jobs", "audit", "grant", "user"];
/// Tools that look at what was captured, by how they begin, and one that must not bring back the
/// name that it has just erased.
const OTHERS: [&str; 7] = [
    "conversation.delete",
    "memory.search",
    "memory.context",
    "memory.context_inject",
    "memory.annotate",
    "memory.metric_",
    "memory.benchmark_",
];
/// Ids that name a place and not a record.
const PLACES: [&str; 4] = ["conversation_id", "session_id", "run_id", "connection_id"];

/// What a call of a tool counts as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) action_type: String,
    pub(crate) subject: Subject,
}

impl Kind {
    /// Of a tool by its dotted name; nothing, if it is not captured.
    pub(crate) fn of_tool(name: &'static str) -> Option<Self> {
        let (noun, verb) = name.split_once('.')?;
        let other = |it: &&str| *it == name || (it.ends_with('_') && name.starts_with(*it));
        if UNCAPTURED.contains(&noun) || OTHERS.iter().any(other) {
            return None;
        }
        if noun == "ontology" {
            let asks = ["search", "get_node", "traverse"].contains(&verb);
            let action_type = if asks { "graph_query" } else { "ontology_mutation" };
            return Some(Self { action_type: action_type.to_owned(), subject: Subject::Graph });
        }
        Some(Self { action_type: name.replace('.', "_"), subject: Subject::Noun(noun) })
    }
}

/// The session that a request names, if it names one.
pub(crate) fn session(headers: &HeaderMap) -> Option<String> {
    let named = headers.get(SESSION).or_else(|| headers.get(MCP_SESSION))?;
    named.to_str().ok().map(|name| name.trim().to_owned())
}

/// The record that a call answered with, where it is one.
pub(crate) fn made(answer: Option<&Value>) -> Option<Uuid> {
    answer?.get("id")?.as_str()?.parse().ok()
}

/// The records that a call names by their ids.
pub(crate) fn targets(arguments: &Map<String, Value>) -> Vec<Uuid> {
    let names_records = |name: &str| {
        !PLACES.contains(&name)
            && (["id", "ids", "into"].contains(&name)
                || name.ends_with("_id")
                || name.ends_with("_ids"))
    };
    let named = arguments.iter().filter(|(name, _)| names_records(name));
    let ids = named.flat_map(|(_, value)| match value {
        Value::Array(many) => many.iter().collect(),
        one => vec![one],
    });
    ids.filter_map(Value::as_str).filter_map(|id| id.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_counts_as_what_it_does() {
        let kind = |name| Kind::of_tool(name).map(|kind| kind.action_type);
        assert_eq!(kind("ontology.traverse").as_deref(), Some("graph_query"));
        assert_eq!(kind("ontology.delete_edge").as_deref(), Some("ontology_mutation"));
        assert_eq!(kind("memory.remember").as_deref(), Some("memory_remember"));
        for own in ["memory.search", "memory.metric_list", "workspace.settings", "audit.list"] {
            assert_eq!(kind(own), None, "{own}");
        }
    }

    #[test]
    fn only_ids_of_records_are_taken() {
        let [a, b, c, d] = [1, 2, 3, 4].map(Uuid::from_u128);
        let arguments = json!({
            "id": a, "ids": [b, "zanzibar"], "source_id": b, "conversation_id": d, "query": d,
        });
        let arguments = arguments.as_object().unwrap();
        let mut found = targets(arguments);
        found.sort_unstable();
        assert_eq!(found, [a, b, b]);
        assert_eq!(made(Some(&json!({"id": c, "text": d}))), Some(c));
        assert_eq!(made(Some(&json!({"items": [{"id": c}]}))), None);
    }
}
