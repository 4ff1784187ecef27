//! Questions and their answers on the wire.

use mnemic_core::ask::{Answered, AskRequest as Wish, Cited};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskRequest {
    #[schema(min_length = 1, max_length = 8192)]
    pub question: String,
    /// Searched together with `_global`; absent, every channel is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub channel: Option<String>,
}

impl From<AskRequest> for Wish {
    fn from(request: AskRequest) -> Self {
        Self { question: request.question, channel: request.channel }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct AskResponse {
    /// Empty if nothing is remembered about the question.
    pub answer: String,
    /// The records that it rests on.
    pub citations: Vec<CitationWire>,
    /// The model that answered; `passages` where the best passages stand for an answer; `nearest`
    /// where memory may hold none, and they are but the nearest.
    pub answered_by: String,
    /// How sure it is, 0 to 1, that the answer is in memory at all; 0 where nothing was found.
    #[serde(default)]
    #[schema(minimum = 0.0, maximum = 1.0)]
    pub confidence: f64,
    /// What could not serve, and why; empty when all is well.
    pub degraded: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct CitationWire {
    pub id: Uuid,
    /// As in the mark: `mem`, `turn`, `policy` and so on.
    #[serde(rename = "type")]
    pub citation_type: String,
    pub text: String,
}

impl From<Answered> for AskResponse {
    fn from(answered: Answered) -> Self {
        let Answered { answer, citations, answered_by, confidence, degraded } = answered;
        let citations = citations.into_iter().map(Into::into).collect();
        Self { answer, citations, answered_by, confidence, degraded }
    }
}

impl From<Cited> for CitationWire {
    fn from(cited: Cited) -> Self {
        Self { id: cited.id, citation_type: cited.kind, text: cited.text }
    }
}
