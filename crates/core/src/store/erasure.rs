//! The port for erasure: commits that count what they remove, and the tombstones they leave.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::Change;
use crate::erasure::{Counts, Digest, Files, Tombstone, TombstoneKey, TombstoneKind};
use crate::error::Result;
use crate::ids::{MemoryId, NodeId, TokenId};
use crate::principal::Scope;

/// The changes that can be told only from what the others removed: the audit's entry and the kept
/// answer. An error undoes everything. It may be asked more than once, and must not wait.
pub type Epilogue = Box<dyn Fn(&Counts) -> Result<Vec<Change>> + Send + Sync>;

/// A change of tombstones, or what a decision relied on about them.
#[derive(Debug, Clone)]
pub enum TombstoneChange {
    Set(Tombstone),
    /// One that is lifted by now is a lost race.
    Lift {
        kind: TombstoneKind,
        digest: Digest,
    },
    /// One that is there by now is a lost race.
    Absent {
        kind: TombstoneKind,
        digest: Digest,
    },
    /// A first erasure of the workspace is a lost race.
    NoneYet,
}

#[async_trait]
pub trait ErasureStore {
    /// As [`commit`](super::Store::commit), ending with what the epilogue makes of the counts; says
    /// what was removed. Erased texts leave the files with [`Self::scrub`].
    async fn commit_counted(
        &self,
        scope: Scope,
        changes: Vec<Change>,
        epilogue: Epilogue,
    ) -> Result<Counts>;
    /// Gets what was erased out of the store's own files.
    async fn scrub(&self) -> Files;
    /// What the digests of a workspace are made with; none before its first erasure.
    async fn tombstone_key(&self, scope: Scope) -> Result<Option<TombstoneKey>>;
    /// Gives a workspace its key, unless it has one.
    async fn give_tombstone_key(&self, scope: Scope, key: &TombstoneKey) -> Result<()>;
    /// When each of these was erased, if it was.
    async fn find_tombstones(
        &self,
        scope: Scope,
        kind: TombstoneKind,
        digests: &[Digest],
    ) -> Result<Vec<Option<Timestamp>>>;
    async fn list_tombstones(&self, scope: Scope) -> Result<Vec<Tombstone>>;
    /// What was promoted from a memory.
    async fn list_copies(&self, scope: Scope, id: MemoryId) -> Result<Vec<MemoryId>>;
    /// Memories and nodes that tokens of a user made; all, or those that are as old as `until`.
    async fn list_owned(
        &self,
        scope: Scope,
        user: &str,
        until: Option<Timestamp>,
        limit: usize,
    ) -> Result<Vec<Uuid>>;
    /// The domains of those.
    async fn domains_of_user(&self, scope: Scope, user: &str) -> Result<Vec<String>>;
    /// The tokens of a user, each with whether it is an operator's; all, or those that are as old
    /// as `until`.
    async fn tokens_of_user(
        &self,
        scope: Scope,
        user: &str,
        until: Option<Timestamp>,
    ) -> Result<Vec<(TokenId, bool)>>;
    /// Every user that a token, a record or the audit names.
    async fn list_users(&self, scope: Scope) -> Result<Vec<String>>;
    /// Every conversation that the audit names or a memory was seen in.
    async fn list_conversation_names(&self, scope: Scope) -> Result<Vec<String>>;
    /// All there are, hidden or not, by id.
    async fn list_memory_ids(
        &self,
        scope: Scope,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<MemoryId>>;
    /// The same of nodes.
    async fn list_node_ids(
        &self,
        scope: Scope,
        after: Option<NodeId>,
        limit: usize,
    ) -> Result<Vec<NodeId>>;
    /// All that came from a connection.
    async fn list_nodes_of_connection(
        &self,
        scope: Scope,
        connection_id: &str,
    ) -> Result<Vec<NodeId>>;
}
