//! Recall on the wire.

use std::time::Duration;

use jiff::Timestamp;
use mnemic_core::recall::{
    Bundle, Factors, Feature, Found, Part, RecallRequest as Wish, Recalled, RecalledTurn,
    Technique, TechniqueReport, Why, WhyTurn,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::entity::{EntityWire, ThroughWire};
use super::expansion::{ExpansionWire, StretchWire};
use super::goal::GoalResponse;
use super::memory::{KindWire, TemporalWire};
use super::pattern::PatternResponse;
use super::policy::PolicyResponse;
use super::profile::ProfileResponse;
use super::strategy::StrategyHitResponse;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TechniqueWire {
    Words,
    Vectors,
    Entities,
}

impl From<TechniqueWire> for Technique {
    fn from(technique: TechniqueWire) -> Self {
        match technique {
            TechniqueWire::Words => Self::Words,
            TechniqueWire::Vectors => Self::Vectors,
            TechniqueWire::Entities => Self::Entities,
        }
    }
}

impl From<Technique> for TechniqueWire {
    fn from(technique: Technique) -> Self {
        match technique {
            Technique::Words => Self::Words,
            Technique::Vectors => Self::Vectors,
            Technique::Entities => Self::Entities,
        }
    }
}

/// The parts of the bundle that can be asked for: memories, turns of conversations, the entities
/// that the query is about with what they are joined to, ways that worked before, active goals,
/// rules that apply, and what tends to happen when agents act on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IncludeWire {
    Memories,
    Turns,
    Entities,
    Strategies,
    Goals,
    Policies,
    Patterns,
}

impl From<IncludeWire> for Part {
    fn from(part: IncludeWire) -> Self {
        match part {
            IncludeWire::Memories => Self::Memories,
            IncludeWire::Turns => Self::Turns,
            IncludeWire::Entities => Self::Entities,
            IncludeWire::Strategies => Self::Strategies,
            IncludeWire::Goals => Self::Goals,
            IncludeWire::Policies => Self::Policies,
            IncludeWire::Patterns => Self::Patterns,
        }
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecallRequest {
    /// A question or a few words.
    #[schema(min_length = 1, max_length = 8192)]
    pub query: String,
    /// 1 to 100; 10 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 100)]
    pub limit: Option<usize>,
    /// Searched together with `_global`; absent, every channel is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub channel: Option<String>,
    /// The conversation that asks: of what was said, only its own turns are searched. Leave it out
    /// to search all conversations. A fact of a channel that several conversations recall is
    /// promoted to `_global`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub conversation_id: Option<String>,
    /// The user that is served: their profile is told. The token's own user, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub user_id: Option<String>,
    /// Only memories or only facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<KindWire>,
    /// Which parts of the bundle; absent, all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 1)]
    pub include: Option<Vec<IncludeWire>>,
    /// Only what was recorded at or after this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub since: Option<Timestamp>,
    /// Only what was recorded before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<Timestamp>,
    /// What was true in the world at this time, as far as we know today.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub as_of: Option<Timestamp>,
    /// What we held to be true at this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub known_at: Option<Timestamp>,
    /// Which techniques may search; absent, all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 1)]
    pub techniques: Option<Vec<TechniqueWire>>,
    /// Features that turns and memories are not weighed by, named as `why.features` names them, such as
    /// `speaker`: to see what each is good for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub without: Vec<FeatureName>,
    /// Ask the workspace's language model first what to look for: the statement that would answer, a
    /// passage as it might stand in memory, further words, and the time that is asked about. It takes
    /// seconds. Absent, as the workspace's setting `recall.expand` says, which is not to. What
    /// fails, or is not there, is named in `degraded`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expand: Option<bool>,
    /// Say for each item why it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<bool>,
}

/// A feature as it is written; a name that there is none by is refused with those that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct FeatureName(pub Feature);

impl TryFrom<String> for FeatureName {
    type Error = mnemic_core::Error;

    fn try_from(name: String) -> mnemic_core::Result<Self> {
        name.parse().map(Self)
    }
}

impl From<FeatureName> for String {
    fn from(name: FeatureName) -> Self {
        name.0.as_str().to_owned()
    }
}

impl From<RecallRequest> for Wish {
    fn from(request: RecallRequest) -> Self {
        Self {
            query: request.query,
            limit: request.limit,
            channel: request.channel,
            conversation_id: request.conversation_id,
            user_id: request.user_id,
            kind: request.kind.map(Into::into),
            since: request.since,
            until: request.until,
            as_of: request.as_of,
            known_at: request.known_at,
            include: request.include.map(|parts| parts.into_iter().map(Into::into).collect()),
            techniques: request
                .techniques
                .map(|techniques| techniques.into_iter().map(Into::into).collect()),
            without: request.without.into_iter().map(|name| name.0).collect(),
            expand: request.expand,
            explain: request.explain.unwrap_or(false),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct RecallResponse {
    /// Best first.
    pub items: Vec<RecallItem>,
    /// What the query is about: what it names first, then what it means.
    #[serde(default)]
    pub entities: Vec<EntityWire>,
    /// Ways that worked before, best first.
    #[serde(default)]
    pub strategies: Vec<StrategyHitResponse>,
    /// Active goals, those of the highest priority first.
    #[serde(default)]
    pub goals: Vec<GoalResponse>,
    /// Rules that apply, best first.
    #[serde(default)]
    pub policies: Vec<PolicyResponse>,
    /// What is known of the user that is served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<ProfileResponse>,
    /// What tends to happen when agents act on what the query is about: failures first.
    #[serde(default)]
    pub patterns: Vec<PatternResponse>,
    /// How sure it is, 0 to 1, that the answer is in memory at all, be it in a memory or a turn; 0
    /// where nothing was found. Calibrated for talks of two people; elsewhere it puts questions in
    /// order.
    #[serde(default)]
    #[schema(minimum = 0.0, maximum = 1.0)]
    pub confidence: f64,
    /// What could not serve, and why; empty when all is well.
    pub degraded: Vec<String>,
    pub took_ms: f64,
    /// How each technique did with memories; only with `explain`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub techniques: Option<Vec<TechniqueReportWire>>,
    /// How each did with turns; only with `explain`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turn_techniques: Vec<TechniqueReportWire>,
    /// The stretches of time that the question asks about, seen from when it is asked (or `as_of`);
    /// only with `explain`. What is from then counts more, and nothing is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<StretchWire>,
    /// What a language model made of the question; only with `expand` and `explain`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expansion: Option<ExpansionWire>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct RecallItem {
    pub id: Uuid,
    #[serde(rename = "type")]
    pub item_type: ItemTypeWire,
    /// Of a memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<KindWire>,
    /// True for facts: they outrank anything an agent believes.
    pub authoritative: bool,
    pub text: String,
    pub score: f64,
    pub channel: String,
    pub domain: Option<String>,
    pub topic: Option<String>,
    pub temporal: Option<TemporalWire>,
    /// Of a memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    pub pinned: bool,
    /// Where a turn was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// A turn's place in its conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// When it was recorded; of a turn, when it was said.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<WhyWire>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemTypeWire {
    Memory,
    Turn,
}

/// Which technique found an item where, and what then moved it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct WhyWire {
    pub found_by: Vec<FoundWire>,
    pub matched_words: Vec<String>,
    /// Of a memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factors: Option<FactorsWire>,
    /// What each feature added to a turn's score or to a memory's relevance, or took from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<FeatureWire>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct FeatureWire {
    /// Such as `words_around` or `speaker`.
    pub feature: String,
    pub share: f64,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct FoundWire {
    pub technique: TechniqueWire,
    /// From 1.
    pub rank: usize,
    pub score: f32,
    /// For `entities`: what led there, from what the query speaks of to what the item is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub through: Vec<ThroughWire>,
}

/// What a memory's score is the product of.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct FactorsWire {
    /// What its features add up to, as a share of what those of the best memory do.
    #[serde(default)]
    pub relevance: f64,
    pub temporal: f64,
    pub recency: f64,
    pub weight: f64,
    pub confidence: f64,
    pub kind: f64,
    pub pinned: f64,
    /// How well it fits the query by meaning, words or entities, from 0.05 to 1: what makes scores
    /// of memories and of turns compare.
    pub fit: f64,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct TechniqueReportWire {
    pub technique: TechniqueWire,
    pub took_ms: f64,
    pub hits: usize,
}

impl From<Bundle> for RecallResponse {
    fn from(bundle: Bundle) -> Self {
        let techniques = (!bundle.techniques.is_empty())
            .then(|| bundle.techniques.into_iter().map(Into::into).collect());
        let memories = bundle.items.into_iter().map(RecallItem::from);
        let mut items: Vec<_> =
            memories.chain(bundle.turns.into_iter().map(RecallItem::from)).collect();
        items.sort_by(|a, b| b.score.total_cmp(&a.score));
        Self {
            items,
            entities: bundle.entities.into_iter().map(Into::into).collect(),
            strategies: bundle.strategies.into_iter().map(Into::into).collect(),
            goals: bundle.goals.into_iter().map(Into::into).collect(),
            policies: bundle.policies.into_iter().map(Into::into).collect(),
            user: bundle.user.map(Into::into),
            patterns: bundle.patterns.into_iter().map(Into::into).collect(),
            confidence: bundle.confidence,
            degraded: bundle.degraded,
            took_ms: millis(bundle.took),
            techniques,
            turn_techniques: bundle.turn_techniques.into_iter().map(Into::into).collect(),
            times: bundle.times.into_iter().map(Into::into).collect(),
            expansion: bundle.guess.map(Into::into),
        }
    }
}

impl From<Recalled> for RecallItem {
    fn from(recalled: Recalled) -> Self {
        let Recalled { memory, temporal, score, why } = recalled;
        let kind = KindWire::from(memory.kind);
        Self {
            id: memory.id.0,
            item_type: ItemTypeWire::Memory,
            kind: Some(kind),
            authoritative: kind == KindWire::Fact,
            text: memory.content,
            score,
            channel: memory.channel,
            domain: memory.domain,
            topic: memory.topic,
            temporal: temporal.map(Into::into),
            confidence: Some(memory.confidence),
            pinned: memory.pinned,
            conversation_id: None,
            index: None,
            role: None,
            speaker: None,
            created_at: memory.created_at,
            why: why.map(Into::into),
        }
    }
}

impl From<RecalledTurn> for RecallItem {
    fn from(recalled: RecalledTurn) -> Self {
        let RecalledTurn { turn, score, why } = recalled;
        Self {
            id: turn.id.0,
            item_type: ItemTypeWire::Turn,
            kind: None,
            authoritative: false,
            text: turn.content,
            score,
            channel: turn.channel,
            domain: None,
            topic: None,
            temporal: None,
            confidence: None,
            pinned: false,
            conversation_id: Some(turn.conversation_id),
            index: Some(turn.index),
            role: Some(turn.role),
            speaker: turn.speaker,
            created_at: turn.at,
            why: why.map(Into::into),
        }
    }
}

impl From<WhyTurn> for WhyWire {
    fn from(why: WhyTurn) -> Self {
        Self {
            found_by: why.found_by.into_iter().map(Into::into).collect(),
            matched_words: vec![],
            factors: None,
            features: why.shares.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Why> for WhyWire {
    fn from(why: Why) -> Self {
        Self {
            found_by: why.found_by.into_iter().map(Into::into).collect(),
            matched_words: why.matched_words,
            factors: Some(why.factors.into()),
            features: why.shares.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<(Feature, f64)> for FeatureWire {
    fn from((feature, share): (Feature, f64)) -> Self {
        Self { feature: feature.as_str().to_owned(), share }
    }
}

impl From<Found> for FoundWire {
    fn from(found: Found) -> Self {
        let Found { technique, rank, score, through } = found;
        let through = through.into_iter().map(Into::into).collect();
        Self { technique: technique.into(), rank, score, through }
    }
}

impl From<Factors> for FactorsWire {
    fn from(factors: Factors) -> Self {
        let Factors { relevance, temporal, recency, weight, confidence, kind, pinned, fit } =
            factors;
        Self { relevance, temporal, recency, weight, confidence, kind, pinned, fit }
    }
}

impl From<TechniqueReport> for TechniqueReportWire {
    fn from(report: TechniqueReport) -> Self {
        Self { technique: report.technique.into(), took_ms: millis(report.took), hits: report.hits }
    }
}

pub(super) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}
