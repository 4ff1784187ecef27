//! Conversations and their turns.

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::conversation::{Conversation, ConversationFilter, Episode, Said, Turn, TurnSpan};
use mnemic_core::ids::{EpisodeId, TurnId};
use mnemic_core::page::Position;
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::recall::SearchFilter;
use mnemic_core::store::ConversationStore;
use uuid::Uuid;

use super::{EngineStore, behind, own};
use crate::statements::{conversation, episode, turn};
use crate::{Fields as _, Row, SearchEngine, values};

#[async_trait]
impl<E: SearchEngine> ConversationStore for EngineStore<E> {
    async fn lookup_conversation(
        &self,
        scope: Workspaced,
        id: &str,
    ) -> Result<Option<Conversation>> {
        self.first(own(scope), &conversation::LOOKUP, values![id], conversation::from_row).await
    }

    async fn list_conversations(
        &self,
        scope: Workspaced,
        filter: &ConversationFilter,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Conversation>> {
        let params = conversation::list(filter, behind(after), limit);
        self.all(own(scope), &conversation::LIST, params, conversation::from_row).await
    }

    async fn list_turns(
        &self,
        scope: Workspaced,
        conversation: &str,
        span: TurnSpan,
        limit: usize,
    ) -> Result<Vec<Turn>> {
        let (statement, params) = turn::list(conversation, span, limit);
        self.all(own(scope), statement, params, turn::from_row).await
    }

    async fn find_turns(
        &self,
        scope: Workspaced,
        conversation: &str,
        indexes: &[i64],
        times: &[Timestamp],
    ) -> Result<Vec<Turn>> {
        let mut found = Vec::new();
        let places = indexes.iter().map(|index| values![conversation, *index]).collect();
        let times = times.iter().map(|at| values![conversation, *at]).collect();
        for (statement, params) in [(&turn::FIND_AT, places), (&turn::FIND_BY_TIME, times)] {
            for rows in self.engine.read_each(own(scope), statement, params).await? {
                for row in &rows {
                    found.push(turn::from_row(row)?);
                }
            }
        }
        Ok(found)
    }

    async fn lookup_turns(&self, scope: Workspaced, ids: &[TurnId]) -> Result<Vec<Turn>> {
        let params = ids.iter().map(|id| values![id.0]).collect();
        self.each(own(scope), &turn::LOOKUP, params, turn::from_row).await
    }

    async fn list_speakers(&self, scope: Workspaced, limit: usize) -> Result<Vec<String>> {
        let params = turn::list_speakers(limit);
        self.all(own(scope), &turn::LIST_SPEAKERS, params, |row| row.string("name")).await
    }

    async fn list_said_by(
        &self,
        scope: Workspaced,
        speaker: &str,
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<Turn>> {
        let params = turn::list_said_by(speaker, filter, limit);
        self.all(own(scope), &turn::LIST_SAID_BY, params, turn::from_row).await
    }

    async fn find_said(&self, scope: Workspaced, ids: &[Uuid]) -> Result<Vec<Said>> {
        let params = || ids.iter().map(|id| values![*id]).collect();
        let mut said = Vec::new();
        for rows in self.engine.read_each(own(scope), &conversation::FIND_BY_KEY, params()).await? {
            for row in &rows {
                said.push(Said::Conversation(Box::new(conversation::from_row(row)?)));
            }
        }
        for rows in self.engine.read_each(own(scope), &turn::LOOKUP, params()).await? {
            for row in &rows {
                said.push(Said::Turn(Box::new(turn::from_row(row)?)));
            }
        }
        Ok(said)
    }

    async fn list_unlearned(
        &self,
        scope: Workspaced,
        conversation: &str,
        limit: usize,
    ) -> Result<Vec<Turn>> {
        let params = turn::unlearned(conversation, limit);
        self.all(own(scope), &turn::LIST_UNLEARNED, params, turn::from_row).await
    }

    async fn list_unlearned_conversations(
        &self,
        scope: Workspaced,
        quiet_since: Timestamp,
        turns_min: usize,
        limit: usize,
    ) -> Result<Vec<(String, u64)>> {
        let counted = |row: &Row| {
            let turns = u64::try_from(row.int("rows")?).unwrap_or(0);
            Ok((row.string("conversation_id")?, turns))
        };
        let params = turn::unlearned_conversations(quiet_since, turns_min, limit);
        self.all(own(scope), &turn::UNLEARNED, params, counted).await
    }

    async fn list_long_conversations(
        &self,
        scope: Workspaced,
        turns: i64,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Conversation>> {
        let params = conversation::long(turns, after, limit);
        self.all(own(scope), &conversation::LIST_LONG, params, conversation::from_row).await
    }

    async fn list_dormant_conversations(
        &self,
        scope: Workspaced,
        before: Timestamp,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Conversation>> {
        let params = conversation::dormant(before, after, limit);
        self.all(own(scope), &conversation::LIST_DORMANT, params, conversation::from_row).await
    }

    async fn lookup_episode(&self, scope: Workspaced, id: EpisodeId) -> Result<Option<Episode>> {
        self.first(own(scope), &episode::LOOKUP, episode::lookup(id), episode::from_row).await
    }

    async fn list_episodes(
        &self,
        scope: Workspaced,
        conversation: &str,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Episode>> {
        let params = episode::list(conversation, behind(after), limit);
        self.all(own(scope), &episode::LIST, params, episode::from_row).await
    }
}
