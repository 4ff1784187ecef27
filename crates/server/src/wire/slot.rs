//! Slots on the wire.

use jiff::Timestamp;
use mnemic_core::slot::{NewSlot, Slot};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::any;

/// A slot to be written.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlotRequest {
    /// Any JSON, also null. At most 262,144 bytes without spaces, nested at most 64 deep.
    #[schemars(schema_with = "any")]
    pub value: Value,
    /// How long it lives after it was last written or read; an hour if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 2_592_000)]
    #[schemars(range(min = 1, max = 2_592_000))]
    pub ttl_seconds: Option<u32>,
}

impl From<SlotRequest> for NewSlot {
    fn from(SlotRequest { value, ttl_seconds }: SlotRequest) -> Self {
        Self { value, ttl_seconds }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct SlotResponse {
    /// Its name.
    pub slot: String,
    /// The JSON that was written.
    #[schemars(schema_with = "any")]
    pub value: Value,
    /// How long it lives after it was last written or read.
    pub ttl_seconds: u32,
    /// When it will be absent, unless it is written or read again before.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

impl From<Slot> for SlotResponse {
    fn from(Slot { name, value, ttl, expires_at }: Slot) -> Self {
        let (slot, ttl_seconds) = (name.to_string(), ttl.seconds());
        Self { slot, value, ttl_seconds, expires_at }
    }
}

/// What clearing a conversation removed.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct ClearedSlotsResponse {
    pub cleared: u64,
}
