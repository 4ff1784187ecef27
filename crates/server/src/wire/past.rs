//! Past runs on the wire.

use mnemic_core::sequence::{PastRun, PastRuns};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::sequence::SequenceResponse;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PastRunsRequest {
    /// What is about to be done, in words or as names of actions.
    #[schema(min_length = 1, max_length = 8192)]
    pub query: String,
    /// 1 to 50; 5 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 50)]
    pub limit: Option<usize>,
}

/// Runs that did the same.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct PastRunResponse {
    /// What they did, in types alone.
    pub intent_summary: String,
    /// How much it is like what was asked for; greater is better.
    pub score: f64,
    /// How many there were lately, at most 50.
    pub runs: usize,
    /// How many of those ended well.
    pub succeeded: usize,
    /// The latest three.
    pub sequences: Vec<SequenceResponse>,
}

impl From<PastRun> for PastRunResponse {
    fn from(past: PastRun) -> Self {
        Self {
            intent_summary: past.intent.text,
            score: past.score,
            runs: past.runs,
            succeeded: past.succeeded,
            sequences: past.sequences.into_iter().map(Into::into).collect(),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct PastRunsResponse {
    /// Best first.
    pub items: Vec<PastRunResponse>,
    /// What could not serve, and why.
    pub degraded: Vec<String>,
}

impl From<PastRuns> for PastRunsResponse {
    fn from(past: PastRuns) -> Self {
        let PastRuns { items, degraded } = past;
        Self { items: items.into_iter().map(Into::into).collect(), degraded }
    }
}
