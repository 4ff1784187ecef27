//! The timeline on the wire.

use jiff::Timestamp;
use mnemic_core::timeline::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct EventResponse {
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// `learned`, `promoted`, `superseded`, `forgotten` or `restored`.
    pub event: String,
    /// What it happened to: `memory`, `fact` or `strategy`, as it is now.
    #[serde(rename = "type")]
    pub record_type: String,
    pub record_id: Uuid,
    pub channel: String,
    pub domain: Option<String>,
    /// The beginning of what the record says now.
    pub summary: String,
    /// How much it matters by now, 0 to 1.
    pub importance: f64,
}

impl From<Event> for EventResponse {
    fn from(event: Event) -> Self {
        Self {
            at: event.at,
            event: event.happening.as_str().to_owned(),
            record_type: event.subject.as_str().to_owned(),
            record_id: event.record_id,
            channel: event.channel,
            domain: event.domain,
            summary: event.summary,
            importance: event.importance,
        }
    }
}
