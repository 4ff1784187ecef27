//! Conversations and turns on the wire.

use jiff::Timestamp;
use mnemic_core::conversation::{Conversation, Episode, NewConversation, NewTurn, RollUp, Turn};
use mnemic_core::node::Properties;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::node::object;

/// A conversation to be made.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConversationRequest {
    /// A UUID or any other name of letters, digits, `.`, `_` and `-`; a UUID is made if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub id: Option<String>,
    /// `_global` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub channel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub title: Option<String>,
    /// At most 16,384 bytes of JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    #[schemars(schema_with = "object")]
    pub metadata: Option<Properties>,
    /// Make it although it was erased; needs the role admin or member.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub revive: bool,
}

impl From<ConversationRequest> for NewConversation {
    fn from(request: ConversationRequest) -> Self {
        let ConversationRequest { id, channel, title, metadata, revive } = request;
        Self { id, channel, title, metadata: metadata.unwrap_or_default(), revive }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct ConversationResponse {
    pub id: String,
    /// Its id in the graph, where it leads to its turns.
    pub key: Uuid,
    pub channel: String,
    pub title: Option<String>,
    #[schema(value_type = Object)]
    #[schemars(schema_with = "object")]
    pub metadata: Properties,
    /// How many turns it has.
    pub turns: i64,
    /// The index that the next turn gets.
    pub next_index: i64,
    pub created_by: String,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
    /// Since when it is left out of searches.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub archived_at: Option<Timestamp>,
}

impl From<Conversation> for ConversationResponse {
    fn from(conversation: Conversation) -> Self {
        Self {
            id: conversation.id,
            key: conversation.key,
            channel: conversation.channel,
            title: conversation.title,
            metadata: conversation.metadata,
            turns: conversation.turns,
            next_index: conversation.next_index,
            created_by: conversation.created_by,
            created_at: conversation.created_at,
            updated_at: conversation.updated_at,
            archived_at: conversation.archived_at,
        }
    }
}

/// Something that was said.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnRequest {
    /// `user`, `assistant`, `system`, `tool` or any other name.
    #[schema(min_length = 1, max_length = 128)]
    pub role: String,
    /// At most 131,072 bytes.
    #[schema(min_length = 1, max_length = 131_072)]
    pub content: String,
    /// Its place in the conversation, from 0; behind the last one if absent. The same turn at
    /// the same index is stored once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub index: Option<i64>,
    /// When it was said; now if absent. Without an index, the same words of the same role at the
    /// same time are stored once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub timestamp: Option<Timestamp>,
    /// Who spoke, where the role does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub speaker: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub token_count: Option<i64>,
    /// The model that said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub model: Option<String>,
    /// At most 16,384 bytes of JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    #[schemars(schema_with = "object")]
    pub metadata: Option<Properties>,
    /// Store it although it, or its conversation, was erased; needs the role admin or member.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revive: bool,
}

impl From<TurnRequest> for NewTurn {
    fn from(request: TurnRequest) -> Self {
        Self {
            role: request.role,
            content: request.content,
            index: request.index,
            at: request.timestamp,
            speaker: request.speaker,
            token_count: request.token_count,
            model: request.model,
            metadata: request.metadata.unwrap_or_default(),
            revive: request.revive,
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct TurnResponse {
    pub id: Uuid,
    pub conversation_id: String,
    pub index: i64,
    pub role: String,
    pub speaker: Option<String>,
    pub content: String,
    /// SHA-256 of the content, in hexadecimal digits.
    pub content_hash: String,
    /// When it was said.
    #[schema(value_type = String, format = DateTime)]
    pub timestamp: Timestamp,
    pub token_count: Option<i64>,
    pub model: Option<String>,
    #[schema(value_type = Object)]
    #[schemars(schema_with = "object")]
    pub metadata: Properties,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl From<Turn> for TurnResponse {
    fn from(turn: Turn) -> Self {
        Self {
            id: turn.id.0,
            conversation_id: turn.conversation_id,
            index: turn.index,
            role: turn.role,
            speaker: turn.speaker,
            content: turn.content,
            content_hash: turn.content_hash,
            timestamp: turn.at,
            token_count: turn.token_count,
            model: turn.model,
            metadata: turn.metadata,
            created_at: turn.created_at,
        }
    }
}

/// The turns in the order given.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct TurnsResponse {
    pub items: Vec<TurnResponse>,
}

impl From<Vec<Turn>> for TurnsResponse {
    fn from(turns: Vec<Turn>) -> Self {
        Self { items: turns.into_iter().map(TurnResponse::from).collect() }
    }
}

/// Which turns are old.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SummarizeRequest {
    /// So many of the newest stay in any case; 20 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(maximum = 10000)]
    pub retain_last: Option<usize>,
    /// Only what is older than this goes; 30 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_age_days: Option<u32>,
}

impl From<SummarizeRequest> for RollUp {
    fn from(request: SummarizeRequest) -> Self {
        let SummarizeRequest { retain_last, max_age_days } = request;
        Self { retain_last, max_age_days }
    }
}

/// What old turns came to.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct EpisodeResponse {
    pub id: Uuid,
    pub conversation_id: String,
    pub summary: String,
    /// How the summary was made: `extractive`, or by which model.
    pub summarizer: String,
    pub turn_count: i64,
    /// The turns that it stands for, which are gone.
    pub source_turn_ids: Vec<Uuid>,
    /// When the first and the last of them were said.
    #[schema(value_type = String, format = DateTime)]
    pub first_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub last_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl From<Episode> for EpisodeResponse {
    fn from(episode: Episode) -> Self {
        Self {
            id: episode.id.0,
            conversation_id: episode.conversation_id,
            summary: episode.summary,
            summarizer: episode.summarizer,
            turn_count: episode.turn_count,
            source_turn_ids: episode.source_turn_ids.into_iter().map(|id| id.0).collect(),
            first_at: episode.first_at,
            last_at: episode.last_at,
            created_at: episode.created_at,
        }
    }
}

/// The episodes that were made, oldest first; none, where no turn was old.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct SummarizedResponse {
    pub items: Vec<EpisodeResponse>,
}

impl From<Vec<Episode>> for SummarizedResponse {
    fn from(episodes: Vec<Episode>) -> Self {
        Self { items: episodes.into_iter().map(EpisodeResponse::from).collect() }
    }
}
