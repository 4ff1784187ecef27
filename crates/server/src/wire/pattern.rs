//! Patterns and what is told of them on the wire.

use jiff::Timestamp;
use mnemic_core::pattern::{
    Effect, Injected, Injection, PatternPatch, PatternSort, PatternView, ShownPattern,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::nullable;

/// What comes first: the newest, the most confident, those of the most sequences, or those seen
/// last.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PatternSortWire {
    Newest,
    Confidence,
    Samples,
    LastSeen,
}

impl From<PatternSortWire> for PatternSort {
    fn from(sort: PatternSortWire) -> Self {
        match sort {
            PatternSortWire::Newest => Self::Newest,
            PatternSortWire::Confidence => Self::Confidence,
            PatternSortWire::Samples => Self::Samples,
            PatternSortWire::LastSeen => Self::LastSeen,
        }
    }
}

/// What to change of a pattern. Absent fields stay; null empties a note.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PatternPatchRequest {
    /// Told behind the recommendation. An annotated pattern is told however unsure it is.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 2048)]
    pub annotation: Option<Option<String>>,
    /// Told instead of what the figures say; null brings that back.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 2048)]
    pub recommendation: Option<Option<String>>,
    /// A suppressed pattern is kept and shown, and told to nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<bool>,
}

impl From<PatternPatchRequest> for PatternPatch {
    fn from(request: PatternPatchRequest) -> Self {
        let PatternPatchRequest { annotation, recommendation, suppressed } = request;
        Self { annotation, replacement: recommendation, suppressed }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct PatternResponse {
    pub id: Uuid,
    pub action_type: String,
    pub node_type: Option<String>,
    /// Null: the actions succeed.
    pub error_code: Option<String>,
    /// The share of sequences that end so, less what time has taken of it.
    pub confidence: f64,
    /// Sequences with this action, type and error.
    pub sample_count: i64,
    /// Sequences with this action and type.
    pub total_count: i64,
    pub recommendation: String,
    pub annotation: Option<String>,
    pub suppressed: bool,
    /// The pattern that took its place.
    pub superseded_by: Option<Uuid>,
    #[schema(value_type = String, format = DateTime)]
    pub last_seen_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

impl PatternResponse {
    /// `action:type:error`, with `None` for what is absent.
    pub fn key(&self) -> String {
        let part = |part: &Option<String>| part.clone().unwrap_or_else(|| "None".to_owned());
        format!("{}:{}:{}", self.action_type, part(&self.node_type), part(&self.error_code))
    }
}

impl From<ShownPattern> for PatternResponse {
    fn from(shown: ShownPattern) -> Self {
        let ShownPattern { pattern, confidence } = shown;
        Self {
            id: pattern.id.0,
            action_type: pattern.key.action_type,
            node_type: pattern.key.node_type,
            error_code: pattern.key.error_code,
            confidence,
            sample_count: pattern.share.samples,
            total_count: pattern.share.total,
            recommendation: pattern.replacement.unwrap_or(pattern.recommendation),
            annotation: pattern.annotation,
            suppressed: pattern.suppressed,
            superseded_by: pattern.superseded_by.map(|id| id.0),
            last_seen_at: pattern.last_seen_at,
            created_at: pattern.created_at,
            updated_at: pattern.updated_at,
        }
    }
}

/// What telling a warning does: sequences that were told, those that were held out, how many of
/// each went without what it warns of, and the difference of the two shares with the interval that
/// it lies in with 95 %.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct EffectResponse {
    pub shown: u64,
    pub avoided: u64,
    pub held_out: u64,
    pub held_out_avoided: u64,
    /// Null without anything to compare.
    pub delta: Option<f64>,
    pub delta_low: Option<f64>,
    pub delta_high: Option<f64>,
}

impl From<Effect> for EffectResponse {
    fn from(effect: Effect) -> Self {
        let difference = effect.difference();
        Self {
            shown: effect.shown.of,
            avoided: effect.shown.hits,
            held_out: effect.held_out.of,
            held_out_avoided: effect.held_out.hits,
            delta: difference.map(|it| it.delta),
            delta_low: difference.map(|it| it.low),
            delta_high: difference.map(|it| it.high),
        }
    }
}

/// A pattern, those that it superseded, and what telling it does.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct PatternViewResponse {
    #[serde(flatten)]
    pub pattern: PatternResponse,
    pub supersedes: Vec<Uuid>,
    pub effect: EffectResponse,
}

impl From<PatternView> for PatternViewResponse {
    fn from(view: PatternView) -> Self {
        let PatternView { shown, supersedes, effect } = view;
        Self {
            pattern: shown.into(),
            supersedes: supersedes.into_iter().map(|id| id.0).collect(),
            effect: effect.into(),
        }
    }
}

/// The action that is about to be taken.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InjectRequest {
    /// The nodes that it will be about: patterns of their types, and of what was done to them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100)]
    pub node_ids: Vec<Uuid>,
    /// Types of such nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 20)]
    pub node_types: Vec<String>,
    /// Only patterns of this action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub action_type: Option<String>,
    /// The run that asks, as its actions will name it, so that what comes of a warning is measured;
    /// what `Mnemic-Session` says, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub session_id: Option<String>,
}

impl From<InjectRequest> for Injection {
    fn from(request: InjectRequest) -> Self {
        let InjectRequest { node_ids, node_types, action_type, session_id } = request;
        Self { node_ids, node_types, action_type, session_id, warnings_only: false }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct InjectResponse {
    /// A block for the prompt; empty if there is nothing to tell.
    pub text: String,
    /// What it tells of: failures first, then by confidence; at most five.
    pub patterns: Vec<PatternResponse>,
    /// The session is one of those that are told nothing, for comparison.
    pub held_out: bool,
}

impl From<Injected> for InjectResponse {
    fn from(injected: Injected) -> Self {
        let Injected { text, patterns, held_out } = injected;
        Self { text, patterns: patterns.into_iter().map(Into::into).collect(), held_out }
    }
}
