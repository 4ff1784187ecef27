//! Finished runs on the wire.

use mnemic_core::run::{Citations, Reason};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FinishRunRequest {
    /// What the run ended with; its `[mem:<uuid>]` citations are counted.
    #[schema(max_length = 1_048_576)]
    pub text: String,
    /// How it ended, such as `success` or `failure`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub outcome: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct FinishRunResponse {
    /// The memories that were counted by this call.
    pub counted: Vec<Uuid>,
    pub ignored: Vec<IgnoredWire>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct IgnoredWire {
    pub id: String,
    pub reason: ReasonWire,
}

/// Why a citation was not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasonWire {
    Malformed,
    Unknown,
    Deleted,
    AlreadyCounted,
}

impl From<Citations> for FinishRunResponse {
    fn from(citations: Citations) -> Self {
        let reason = |reason| match reason {
            Reason::Malformed => ReasonWire::Malformed,
            Reason::Unknown => ReasonWire::Unknown,
            Reason::Deleted => ReasonWire::Deleted,
            Reason::AlreadyCounted => ReasonWire::AlreadyCounted,
        };
        Self {
            counted: citations.counted.into_iter().map(|id| id.0).collect(),
            ignored: citations
                .ignored
                .into_iter()
                .map(|ignored| IgnoredWire { id: ignored.id, reason: reason(ignored.reason) })
                .collect(),
        }
    }
}
