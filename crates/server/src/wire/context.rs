//! Assembled contexts on the wire.

use mnemic_core::context::{Context, ContextRequest as Wish, Section, Skipped};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextRequest {
    /// What is about to be answered or done; without it, only what holds for anything is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 8192)]
    pub query: Option<String>,
    /// The conversation that goes on: its episodes are told, and its newest turns are not told
    /// again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub conversation_id: Option<String>,
    /// The agent that asks; the token's own if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub agent_id: Option<String>,
    /// Nodes that are about to be acted on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100)]
    pub target_node_ids: Vec<Uuid>,
    /// The run that asks, as its actions name it, so that what comes of a warning is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub session_id: Option<String>,
    /// Searched together with `_global`; absent, every channel is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub channel: Option<String>,
    /// 1 to 100,000; 2,000 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 100_000)]
    pub budget_tokens: Option<usize>,
}

impl From<ContextRequest> for Wish {
    fn from(request: ContextRequest) -> Self {
        Self {
            query: request.query,
            conversation_id: request.conversation_id,
            agent_id: request.agent_id,
            target_node_ids: request.target_node_ids,
            session_id: request.session_id,
            channel: request.channel,
            budget_tokens: request.budget_tokens,
            deadline: None,
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct ContextResponse {
    /// One block for a prompt; empty if there is nothing to tell.
    pub text: String,
    pub tokens: usize,
    /// The records that it was made of, in the order of the text.
    pub supporting_ids: Vec<Uuid>,
    /// The parts of the text, in its order.
    pub sections: Vec<SectionWire>,
    /// What was left out, and why.
    pub skipped: Vec<SkippedWire>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct SectionWire {
    /// The layer it comes from, such as `facts`.
    pub name: String,
    pub text: String,
    pub tokens: usize,
    pub ids: Vec<Uuid>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct SkippedWire {
    pub name: String,
    pub reason: String,
}

impl From<Context> for ContextResponse {
    fn from(context: Context) -> Self {
        Self {
            text: context.text,
            tokens: context.tokens,
            supporting_ids: context.supporting_ids,
            sections: context.sections.into_iter().map(Into::into).collect(),
            skipped: context.skipped.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Section> for SectionWire {
    fn from(section: Section) -> Self {
        let Section { layer, text, tokens, ids } = section;
        Self { name: layer.as_str().to_owned(), text, tokens, ids }
    }
}

impl From<Skipped> for SkippedWire {
    fn from(skipped: Skipped) -> Self {
        Self { name: skipped.layer.as_str().to_owned(), reason: skipped.reason }
    }
}
