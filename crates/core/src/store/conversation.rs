//! The port for conversations and their turns.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use crate::conversation::{Conversation, ConversationFilter, Episode, Said, Turn, TurnSpan};
use crate::error::Result;
use crate::ids::{EpisodeId, TurnId};
use crate::page::Position;
use crate::principal::Scope;

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
    /// These turns and, of each, so many before and after it in its conversation; by conversation
    /// and index, each once.
    async fn turns_around(&self, scope: Scope, ids: &[TurnId], reach: i64) -> Result<Vec<Turn>>;
    /// Who has spoken, each once, in the order of the names.
    async fn list_speakers(&self, scope: Scope, limit: usize) -> Result<Vec<String>>;
    /// Conversations by their keys and turns by their ids, of whatever is among these.
    async fn find_said(&self, scope: Scope, ids: &[Uuid]) -> Result<Vec<Said>>;
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
