//! Reviews on the wire.

use jiff::Timestamp;
use mnemic_core::review::{Contradiction, Decision, Review};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::memory::MemoryResponse;

/// `keep_new` replaces the old memory by the new one, `keep_old` the new by the old one,
/// `keep_both` leaves both as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DecisionWire {
    KeepNew,
    KeepOld,
    KeepBoth,
}

impl From<DecisionWire> for Decision {
    fn from(decision: DecisionWire) -> Self {
        match decision {
            DecisionWire::KeepNew => Self::KeepNew,
            DecisionWire::KeepOld => Self::KeepOld,
            DecisionWire::KeepBoth => Self::KeepBoth,
        }
    }
}

impl From<Decision> for DecisionWire {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::KeepNew => Self::KeepNew,
            Decision::KeepOld => Self::KeepOld,
            Decision::KeepBoth => Self::KeepBoth,
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveRequest {
    pub decision: DecisionWire,
}

/// Two memories that cannot both be true.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct ContradictionResponse {
    pub id: Uuid,
    /// The property that they disagree about.
    pub topic: String,
    pub old: MemoryResponse,
    pub new: MemoryResponse,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    pub decision: Option<DecisionWire>,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub decided_at: Option<Timestamp>,
}

impl From<Contradiction> for ContradictionResponse {
    fn from(Contradiction { review, old, new }: Contradiction) -> Self {
        Self {
            id: review.id.0,
            topic: review.topic,
            old: old.into(),
            new: new.into(),
            created_at: review.created_at,
            decision: review.decision.map(Into::into),
            decided_at: review.decided_at,
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct ReviewResponse {
    pub id: Uuid,
    pub topic: String,
    pub old_id: Uuid,
    pub new_id: Uuid,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    pub decision: Option<DecisionWire>,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub decided_at: Option<Timestamp>,
}

impl From<Review> for ReviewResponse {
    fn from(review: Review) -> Self {
        Self {
            id: review.id.0,
            topic: review.topic,
            old_id: review.old_id.0,
            new_id: review.new_id.0,
            created_at: review.created_at,
            decision: review.decision.map(Into::into),
            decided_at: review.decided_at,
        }
    }
}
