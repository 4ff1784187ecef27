//! Scratchpads on the wire.

use jiff::Timestamp;
use mnemic_core::scratchpad::Scratchpad;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The text that a scratchpad is to hold.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScratchpadRequest {
    /// In the place of what is there; empty clears it. At most 65,536 bytes.
    #[schema(max_length = 65536)]
    pub text: String,
    /// Only if this is its present revision; 0 stands for one that was never written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub revision: Option<i64>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct ScratchpadResponse {
    pub agent: String,
    /// Empty, if nothing was ever written.
    pub text: String,
    /// Counts its changes; 0, if there were none.
    pub revision: i64,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub updated_at: Option<Timestamp>,
}

impl ScratchpadResponse {
    /// One that was never written reads as empty.
    pub fn of(agent: String, pad: Option<Scratchpad>) -> Self {
        match pad {
            Some(pad) => pad.into(),
            None => Self { agent, text: String::new(), revision: 0, updated_at: None },
        }
    }
}

impl From<Scratchpad> for ScratchpadResponse {
    fn from(pad: Scratchpad) -> Self {
        let Scratchpad { agent, text, revision, updated_at, .. } = pad;
        Self { agent, text, revision, updated_at: Some(updated_at) }
    }
}
