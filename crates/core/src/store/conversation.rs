//! The port for conversations and their turns.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use crate::conversation::{Conversation, ConversationFilter, Episode, Said, Turn, TurnSpan};
use crate::error::Result;
use crate::ids::{EpisodeId, TurnId};
use crate::page::Position;
use crate::principal::Scope;
use crate::recall::SearchFilter;

#[async_trait]
pub trait ConversationStore {
    async fn lookup_conversation(&self, scope: Scope, id: &str) -> Result<Option<Conversation>>;
    /// Newest first.
    async fn list_conversations(
        &self,
        scope: Scope,
        filter: &ConversationFilter,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Conversation>>;
    /// Those of a conversation in order, or its newest or those before one, newest first.
    async fn list_turns(
        &self,
        scope: Scope,
        conversation: &str,
        span: TurnSpan,
        limit: usize,
    ) -> Result<Vec<Turn>>;
    /// Those with one of these indexes or times.
    async fn find_turns(
        &self,
        scope: Scope,
        conversation: &str,
        indexes: &[i64],
        times: &[Timestamp],
    ) -> Result<Vec<Turn>>;
    /// These turns, of whatever is there, in no order.
    async fn lookup_turns(&self, scope: Scope, ids: &[TurnId]) -> Result<Vec<Turn>>;
    /// Who has spoken, each once, in the order of the names.
    async fn list_speakers(&self, scope: Scope, limit: usize) -> Result<Vec<String>>;
    /// What one of them said last, the newest first, as far as the filter lets it be seen. Of channels
    /// it looks at two at most.
    async fn list_said_by(
        &self,
        scope: Scope,
        speaker: &str,
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<Turn>>;
    /// Conversations by their keys and turns by their ids, of whatever is among these.
    async fn find_said(&self, scope: Scope, ids: &[Uuid]) -> Result<Vec<Said>>;
    /// Turns of a conversation that nobody has learned from, in order.
    async fn list_unlearned(
        &self,
        scope: Scope,
        conversation: &str,
        limit: usize,
    ) -> Result<Vec<Turn>>;
    /// Conversations with such turns, and how many: where nothing was stored since, or at least
    /// so many turns were.
    async fn list_unlearned_conversations(
        &self,
        scope: Scope,
        quiet_since: Timestamp,
        turns_min: usize,
        limit: usize,
    ) -> Result<Vec<(String, u64)>>;
    /// Those with more turns than so many, oldest first.
    async fn list_long_conversations(
        &self,
        scope: Scope,
        turns: i64,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Conversation>>;
    /// Those that are not archived and in which nothing was said since, oldest first.
    async fn list_dormant_conversations(
        &self,
        scope: Scope,
        before: Timestamp,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Conversation>>;
    async fn lookup_episode(&self, scope: Scope, id: EpisodeId) -> Result<Option<Episode>>;
    /// Those of a conversation that are not deleted, newest first.
    async fn list_episodes(
        &self,
        scope: Scope,
        conversation: &str,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Episode>>;
}
