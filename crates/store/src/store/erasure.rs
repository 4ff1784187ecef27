//! Erasure: changes that count what they remove, and the tombstones that they leave.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::erasure::{Counts, Digest, Files, Tombstone, TombstoneKey, TombstoneKind};
use mnemic_core::ids::{MemoryId, NodeId, TokenId, TurnId};
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::store::{Change, Epilogue, ErasureStore};
use uuid::Uuid;

use super::change::add_change;
use super::{EngineStore, own};
use crate::statements::{erasure, participant};
use crate::{Batch, Fields, Row, SearchEngine, Step, Tally, values};

#[async_trait]
impl<E: SearchEngine> ErasureStore for EngineStore<E> {
    async fn commit_counted(
        &self,
        scope: Workspaced,
        changes: Vec<Change>,
        epilogue: Epilogue,
    ) -> Result<Counts> {
        let mut batch = Batch::new();
        for change in &changes {
            add_change(&mut batch, change);
        }
        let counted = Arc::new(Mutex::new(Counts::new()));
        let told = counted.clone();
        batch.then(move |tally| {
            let counts = counts(tally);
            let mut last = Batch::new();
            for change in epilogue(&counts)? {
                add_change(&mut last, &change);
            }
            *told.lock().unwrap_or_else(PoisonError::into_inner) = counts;
            Ok(last.steps)
        });
        self.engine.write(own(scope), batch).await?;
        Ok(std::mem::take(&mut *counted.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    async fn scrub(&self) -> Files {
        match self.engine.scrub().await {
            Ok(files) => files,
            Err(e) => {
                tracing::warn!(error = %e, "erased text lingers in files until the next erasure");
                Files::Pending
            }
        }
    }

    async fn tombstone_key(&self, scope: Workspaced) -> Result<Option<TombstoneKey>> {
        self.first(own(scope), &erasure::LOOKUP_KEY, vec![], erasure::key_from_row).await
    }

    async fn give_tombstone_key(&self, scope: Workspaced, key: &TombstoneKey) -> Result<()> {
        let give = Step::new(&erasure::GIVE_KEY, values![&key.reveal()[..]]);
        self.engine.write(own(scope), give.into()).await.map(drop)
    }

    async fn find_tombstones(
        &self,
        scope: Workspaced,
        kind: TombstoneKind,
        digests: &[Digest],
    ) -> Result<Vec<Option<Timestamp>>> {
        let params = digests.iter().map(|digest| erasure::find(kind, *digest)).collect();
        let found = self.engine.read_each(own(scope), &erasure::FIND, params).await?;
        let erased_at = |rows: &Vec<Row>| rows.first().map(|row| row.time("erased_at")).transpose();
        found.iter().map(erased_at).collect()
    }

    async fn list_tombstones(&self, scope: Workspaced) -> Result<Vec<Tombstone>> {
        self.all(own(scope), &erasure::LIST, vec![], erasure::from_row).await
    }

    async fn list_copies(&self, scope: Workspaced, id: MemoryId) -> Result<Vec<MemoryId>> {
        let copy = |row: &Row| row.uuid("source_id").map(MemoryId);
        self.all(own(scope), &erasure::LIST_COPIES, erasure::copies(id), copy).await
    }

    async fn list_owned(
        &self,
        scope: Workspaced,
        user: &str,
        until: Option<Timestamp>,
        limit: usize,
    ) -> Result<Vec<Uuid>> {
        let params = erasure::owned(user, until, limit);
        self.all(own(scope), &erasure::LIST_OWNED, params, |row| row.uuid("item_id")).await
    }

    async fn domains_of_user(&self, scope: Workspaced, user: &str) -> Result<Vec<String>> {
        let domain = |row: &Row| row.string("domain");
        self.all(own(scope), &erasure::DOMAINS_OF_USER, values![user], domain).await
    }

    async fn tokens_of_user(
        &self,
        scope: Workspaced,
        user: &str,
        until: Option<Timestamp>,
    ) -> Result<Vec<(TokenId, bool)>> {
        let token = |row: &Row| Ok((TokenId(row.uuid("id")?), row.bool("operator")?));
        self.all(own(scope), &erasure::TOKENS_OF_USER, values![user, until], token).await
    }

    async fn list_turns_of_user(
        &self,
        scope: Workspaced,
        user: &str,
        after: Option<TurnId>,
        limit: usize,
    ) -> Result<Vec<(TurnId, String, String)>> {
        let turn = |row: &Row| {
            let (conversation, hash) =
                (row.string("conversation_id")?, row.string("content_hash")?);
            Ok((TurnId(row.uuid("id")?), conversation, hash))
        };
        let params = participant::turns(user, after, limit);
        self.all(own(scope), &participant::LIST_TURNS, params, turn).await
    }

    async fn list_conversations_of_user(
        &self,
        scope: Workspaced,
        user: &str,
    ) -> Result<Vec<String>> {
        let params = participant::conversations(user);
        let id = |row: &Row| row.string("id");
        self.all(own(scope), &participant::LIST_CONVERSATIONS, params, id).await
    }

    async fn list_users(&self, scope: Workspaced) -> Result<Vec<String>> {
        let name = |row: &Row| row.string("user_name");
        let mut users = BTreeSet::new();
        for statement in [&erasure::LIST_USERS, &participant::LIST_NAMES] {
            users.extend(self.all(own(scope), statement, vec![], name).await?);
        }
        let names = |row: &Row| row.decode::<Vec<String>>("participants");
        let told = self.all(own(scope), &participant::LIST_OF_EPISODES, vec![], names).await?;
        users.extend(told.into_iter().flatten());
        Ok(users.into_iter().collect())
    }

    async fn list_conversation_ids(&self, scope: Workspaced) -> Result<Vec<String>> {
        let id = |row: &Row| row.string("conversation_id");
        self.all(own(scope), &erasure::LIST_CONVERSATIONS, vec![], id).await
    }

    async fn list_memory_ids(
        &self,
        scope: Workspaced,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<MemoryId>> {
        let params = erasure::behind(after.map(|id| id.0), limit);
        let id = |row: &Row| row.uuid("id").map(MemoryId);
        self.all(own(scope), &erasure::LIST_MEMORIES, params, id).await
    }

    async fn list_node_ids(
        &self,
        scope: Workspaced,
        after: Option<NodeId>,
        limit: usize,
    ) -> Result<Vec<NodeId>> {
        let params = erasure::behind(after.map(|id| id.0), limit);
        let id = |row: &Row| row.uuid("id").map(NodeId);
        self.all(own(scope), &erasure::LIST_NODES, params, id).await
    }

    async fn list_nodes_of_connection(
        &self,
        scope: Workspaced,
        connection_id: &str,
    ) -> Result<Vec<NodeId>> {
        let id = |row: &Row| row.uuid("id").map(NodeId);
        let params = values![connection_id];
        self.all(own(scope), &erasure::LIST_NODES_OF_CONNECTION, params, id).await
    }
}

fn counts(tally: &Tally) -> Counts {
    tally.iter().map(|(noun, rows)| (noun.to_owned(), rows)).collect()
}
