//! Calls and figures of tools on the wire.

use jiff::Timestamp;
use mnemic_core::ids::InvocationId;
use mnemic_core::tool::{Invocation, NewInvocation, ToolFigures};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::any;

/// What came of a call of a tool.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InvocationRequest {
    /// The tool's name.
    #[schema(min_length = 1, max_length = 128)]
    pub tool: String,
    pub success: bool,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 2_592_000_000_i64)]
    pub latency_ms: Option<i64>,
    /// What went wrong. At most 8,192 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 8192)]
    pub error: Option<String>,
    /// What went in; kept only where the setting `tools.keep_payloads` is on. At most 65,536
    /// bytes of JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "any")]
    pub input: Option<Value>,
    /// What came out; as `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "any")]
    pub output: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub conversation_id: Option<String>,
    /// The caller's own: a call that is reported again under its id counts once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Uuid>,
}

impl From<InvocationRequest> for NewInvocation {
    fn from(request: InvocationRequest) -> Self {
        Self {
            tool: request.tool,
            success: request.success,
            latency_ms: request.latency_ms,
            error: request.error,
            input: request.input,
            output: request.output,
            conversation_id: request.conversation_id,
            id: request.id.map(InvocationId),
        }
    }
}

/// A call as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct InvocationResponse {
    pub id: Uuid,
    pub tool: String,
    pub success: bool,
    pub latency_ms: Option<i64>,
    pub error: Option<String>,
    /// Whether `input` and `output` are kept.
    pub payload_kept: bool,
    pub conversation_id: Option<String>,
    pub created_by: String,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl From<Invocation> for InvocationResponse {
    fn from(call: Invocation) -> Self {
        Self {
            id: call.id.0,
            tool: call.tool,
            success: call.success,
            latency_ms: call.latency_ms,
            error: call.error,
            payload_kept: call.input.is_some() || call.output.is_some(),
            conversation_id: call.conversation_id,
            created_by: call.created_by,
            created_at: call.created_at,
        }
    }
}

/// What is known of a tool from its calls.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct ToolResponse {
    pub tool: String,
    pub usage_count: i64,
    pub success_count: i64,
    /// The share of calls that succeeded.
    pub success_rate: f64,
    /// Of the calls that said how long they took.
    pub mean_latency_ms: Option<f64>,
    #[schema(value_type = String, format = DateTime)]
    pub last_used_at: Timestamp,
}

impl From<ToolFigures> for ToolResponse {
    fn from(figures: ToolFigures) -> Self {
        Self {
            success_rate: figures.success_rate(),
            mean_latency_ms: figures.mean_latency_ms(),
            tool: figures.tool,
            usage_count: figures.usage_count,
            success_count: figures.success_count,
            last_used_at: figures.last_used_at,
        }
    }
}
