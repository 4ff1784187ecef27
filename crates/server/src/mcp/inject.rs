//! What an agent is told with a result, before its next action: warnings about what the call was
//! about. They stand behind the answer, in a content block of their own, and never in its way.

use mnemic_core::Mnemic;
use mnemic_core::action::Subject;
use mnemic_core::pattern::{Injected, Injection};
use mnemic_core::principal::Principal;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::wire::pattern::PatternResponse;

/// Where the patterns stand in a result for programs.
const PATTERNS_META: &str = "mnemic/patterns";
/// And in structured content, whose schemas allow for more than they name.
const PATTERNS_FIELD: &str = "mnemic_patterns";

/// What a call was about.
pub(super) struct About {
    pub subject: Subject,
    pub targets: Vec<Uuid>,
    /// The session that its actions are captured under.
    pub session_id: String,
}

pub(super) async fn tell(
    mnemic: &Mnemic,
    principal: &Principal,
    about: About,
    result: &mut CallToolResult,
) {
    let injection = Injection {
        node_ids: about.targets,
        node_types: match about.subject {
            Subject::Graph => vec![],
            Subject::Noun(noun) => vec![noun.to_owned()],
        },
        session_id: Some(about.session_id),
        warnings_only: true,
        ..Injection::default()
    };
    match mnemic.inject(principal, &injection).await {
        Ok(told) if !told.text.is_empty() => add(told, result),
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "a result goes out without what is known of it"),
    }
}

fn add(told: Injected, result: &mut CallToolResult) {
    result.content.push(ContentBlock::text(told.text));
    let patterns: Vec<_> = told
        .patterns
        .into_iter()
        .map(PatternResponse::from)
        .map(|pattern| {
            json!({
                "id": pattern.id,
                "key": pattern.key(),
                "confidence": pattern.confidence,
                "recommendation": pattern.recommendation,
            })
        })
        .collect();
    let patterns = Value::Array(patterns);
    if let Some(Value::Object(fields)) = &mut result.structured_content {
        fields.insert(PATTERNS_FIELD.to_owned(), patterns.clone());
    }
    let meta = result.meta.get_or_insert_with(|| MetaObject(JsonObject::new()));
    meta.0.insert(PATTERNS_META.to_owned(), patterns);
}
