//! Strategies on the wire.

use jiff::Timestamp;
use mnemic_core::strategy::{FoundStrategies, NewStrategy, Strategy, StrategyHit, StrategySearch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// A strategy to be learned.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrategyRequest {
    /// What to do. At most 8,192 bytes.
    #[schema(min_length = 1, max_length = 8192)]
    pub description: String,
    /// When it is to be used, in words. At most 8,192 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 8192)]
    pub context_pattern: Option<String>,
    /// The tools that it takes, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 100)]
    pub tool_sequence: Option<Vec<String>>,
    /// Whether it worked this time; true if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// `_global` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub channel: Option<String>,
    /// The knowledge area that it belongs to; none if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub domain: Option<String>,
}

impl From<StrategyRequest> for NewStrategy {
    fn from(request: StrategyRequest) -> Self {
        Self {
            description: request.description,
            context_pattern: request.context_pattern,
            tool_sequence: request.tool_sequence,
            success: request.success,
            channel: request.channel,
            domain: request.domain,
        }
    }
}

/// What a strategy is looked for.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrategySearchRequest {
    /// The task, in words. At most 8,192 bytes.
    #[schema(min_length = 1, max_length = 8192)]
    pub task: String,
    /// This channel and `_global` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub channel: Option<String>,
    /// How many; 5 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 100)]
    pub limit: Option<usize>,
}

impl From<StrategySearchRequest> for StrategySearch {
    fn from(StrategySearchRequest { task, channel, limit }: StrategySearchRequest) -> Self {
        Self { task, channel, limit }
    }
}

/// What came of using a strategy.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReinforceRequest {
    pub success: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct StrategyResponse {
    pub id: Uuid,
    pub description: String,
    pub context_pattern: Option<String>,
    pub tool_sequence: Vec<String>,
    pub success_count: i64,
    pub failure_count: i64,
    /// By Laplace's rule: (successes + 1) / (uses + 2).
    pub success_rate: f64,
    pub channel: String,
    pub domain: Option<String>,
    pub created_by: String,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub last_used_at: Timestamp,
}

impl From<Strategy> for StrategyResponse {
    fn from(strategy: Strategy) -> Self {
        Self {
            success_rate: strategy.success_rate(),
            id: strategy.id.0,
            description: strategy.description,
            context_pattern: strategy.context_pattern,
            tool_sequence: strategy.tool_sequence,
            success_count: strategy.success_count,
            failure_count: strategy.failure_count,
            channel: strategy.channel,
            domain: strategy.domain,
            created_by: strategy.created_by,
            created_at: strategy.created_at,
            updated_at: strategy.updated_at,
            last_used_at: strategy.last_used_at,
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct StrategyHitResponse {
    #[serde(flatten)]
    pub strategy: StrategyResponse,
    /// Relevance and success rate together, 0 to 1.
    pub score: f64,
}

impl From<StrategyHit> for StrategyHitResponse {
    fn from(StrategyHit { strategy, score }: StrategyHit) -> Self {
        Self { strategy: strategy.into(), score }
    }
}

/// The strategies for a task, best first.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct FoundStrategiesResponse {
    pub items: Vec<StrategyHitResponse>,
    /// What could not serve, and why.
    pub degraded: Vec<String>,
}

impl From<FoundStrategies> for FoundStrategiesResponse {
    fn from(FoundStrategies { items, degraded }: FoundStrategies) -> Self {
        Self { items: items.into_iter().map(Into::into).collect(), degraded }
    }
}
