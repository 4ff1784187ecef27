//! The ports to a store: what core needs kept, found and changed.
//!
//! The contract: [`Store::commit`] makes all of its changes or none, and when it returns they
//! are durable, visible to every later read, and found by every later search. Lookups return
//! what is stored, deleted or not; rules about visibility are core's. A lost race is
//! `Code::Stale`, and nothing was written.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use crate::answer::Answer;
use crate::edge::Edge;
use crate::embed::ModelStamp;
use crate::error::Result;
use crate::ids::{MemoryId, TokenId, WorkspaceId};
use crate::memory::{Memory, MemoryFilter};
use crate::page::Position;
use crate::principal::{Principal, Scope};
use crate::recall::{Hit, SearchFilter};
use crate::run::Run;
use crate::token::Token;
use crate::workspace::{Erasure, Workspace};

/// One change of a workspace's records.
#[derive(Debug, Clone)]
pub enum Change {
    AddMemory(Memory),
    /// Writes what a person or agent can change. The stored revision must be the one before.
    UpdateMemory {
        memory: Memory,
        content_changed: bool,
    },
    /// A memory that is deleted or replaced by now is a lost race. For decisions that rest on a
    /// memory which they do not change.
    RequireLive(MemoryId),
    /// Removes a memory with its vectors, edges, citations and kept answers.
    EraseMemory(MemoryId),
    /// The same, if it is still stale with regard to `before`.
    EraseStale {
        id: MemoryId,
        before: Timestamp,
    },
    AddEdge(Edge),
    FinishRun(Run),
    /// Adds one to `times_referenced`; a citation that is there already is a lost race.
    CountCitation {
        run_id: String,
        memory_id: MemoryId,
    },
    /// A key that is there already is a lost race.
    KeepAnswer(Answer),
}

impl Change {
    /// The record whose vector is missing once the change is made.
    pub(crate) fn needs_vector(&self) -> Option<Uuid> {
        match self {
            Self::AddMemory(memory) | Self::UpdateMemory { memory, content_changed: true } => {
                Some(memory.id.0)
            }
            _ => None,
        }
    }
}

/// A text that waits for its vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unembedded {
    pub id: Uuid,
    pub text: String,
}

/// A vector and the text that it was made of. It is taken only if the record still has that text.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    pub id: Uuid,
    pub text: String,
    pub vector: Vec<f32>,
}

/// How well a store is, for `doctor` and `/readyz`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub part: String,
    pub ok: bool,
    pub detail: String,
}

#[async_trait]
pub trait WorkspaceStore {
    async fn lookup_workspace(&self, id: WorkspaceId) -> Result<Option<Workspace>>;
    /// By name, among those that are not deleted.
    async fn find_workspace(&self, name: &str) -> Result<Option<Workspace>>;
    /// Newest first.
    async fn list_workspaces(
        &self,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Workspace>>;
    async fn add_workspace(&self, workspace: &Workspace) -> Result<()>;
    /// The stored revision must be the one before.
    async fn update_workspace(&self, workspace: &Workspace) -> Result<()>;
    /// Whether there was one to hide.
    async fn hide_workspace(&self, id: WorkspaceId, at: Timestamp) -> Result<bool>;
    /// Removes every row of it, hidden or not, and counts what is left.
    async fn erase_workspace(&self, id: WorkspaceId) -> Result<Option<Erasure>>;
}

#[async_trait]
pub trait TokenStore {
    /// By the secret's hash; nobody, if it is revoked or its workspace is deleted.
    async fn find_principal(&self, hash: &[u8; 32]) -> Result<Option<Principal>>;
    async fn add_token(&self, token: &Token, hash: &[u8; 32]) -> Result<()>;
    /// Newest first, of one workspace or of all.
    async fn list_tokens(
        &self,
        workspace: Option<WorkspaceId>,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Token>>;
    /// Whether there is such a token. Named by workspace, operators' tokens are out of reach.
    async fn revoke_token(
        &self,
        workspace: Option<WorkspaceId>,
        id: TokenId,
        at: Timestamp,
    ) -> Result<bool>;
}

#[async_trait]
pub trait MemoryStore {
    async fn lookup_memory(&self, scope: Scope, id: MemoryId) -> Result<Option<Memory>>;
    /// Those that exist, in the order asked for.
    async fn lookup_memories(&self, scope: Scope, ids: &[MemoryId]) -> Result<Vec<Memory>>;
    /// Newest first.
    async fn list_memories(
        &self,
        scope: Scope,
        filter: &MemoryFilter,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Memory>>;
    /// Live, unpinned, cited at least so often; most cited first.
    async fn list_recommended_pins(
        &self,
        scope: Scope,
        references_min: i64,
        limit: usize,
    ) -> Result<Vec<Memory>>;
    /// Live suggestions, unpinned, never cited, made before; oldest first.
    async fn list_stale(
        &self,
        scope: Scope,
        before: Timestamp,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Memory>>;
    /// Adds one access each.
    async fn touch_memories(&self, scope: Scope, ids: &[MemoryId], at: Timestamp) -> Result<()>;
    async fn count_memories(&self, scope: Scope) -> Result<u64>;
}

#[async_trait]
pub trait RunStore {
    /// The memories that a run has been counted for.
    async fn list_citations(&self, scope: Scope, run_id: &str) -> Result<Vec<MemoryId>>;
}

#[async_trait]
pub trait AnswerStore {
    async fn find_answer(&self, scope: Scope, key: &str) -> Result<Option<Answer>>;
    /// Forgets the answers of a workspace that were kept before.
    async fn drop_answers(&self, scope: Scope, before: Timestamp) -> Result<u64>;
}

#[async_trait]
pub trait VectorStore {
    /// Tells which model's vectors the searches are about.
    async fn use_model(&self, stamp: &ModelStamp) -> Result<()>;
    /// Records without a vector of this model, by id, behind `after`.
    async fn list_unembedded(
        &self,
        scope: Scope,
        stamp: &ModelStamp,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Unembedded>>;
    async fn lookup_unembedded(&self, scope: Scope, ids: &[Uuid]) -> Result<Vec<Unembedded>>;
    async fn put_vectors(
        &self,
        scope: Scope,
        stamp: &ModelStamp,
        vectors: Vec<Embedded>,
    ) -> Result<()>;
    /// Removes the vectors of every other model; says how many.
    async fn drop_other_vectors(&self, scope: Scope, stamp: &ModelStamp) -> Result<u64>;
}

#[async_trait]
pub trait Search {
    /// By words, best first.
    async fn search_words(
        &self,
        scope: Scope,
        query: &str,
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<Hit>>;
    /// By meaning, best first, with true cosines as scores. `stamp` is the model that made the
    /// query; where the vectors of another one are searched, it is `Code::ModelUnavailable`.
    async fn search_vectors(
        &self,
        scope: Scope,
        stamp: &ModelStamp,
        query: &[f32],
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<Hit>>;
    /// Which of the query's words each of the records has.
    async fn matched_words(
        &self,
        scope: Scope,
        query: &str,
        ids: &[Uuid],
    ) -> Result<Vec<Vec<String>>>;
}

#[async_trait]
pub trait Store:
    WorkspaceStore
    + TokenStore
    + MemoryStore
    + RunStore
    + AnswerStore
    + VectorStore
    + Search
    + Send
    + Sync
    + 'static
{
    async fn commit(&self, scope: Scope, changes: Vec<Change>) -> Result<()>;
    /// Looks the store over; `thorough` reads all of it.
    async fn check(&self, thorough: bool) -> Result<Vec<Finding>>;
    /// Waits for what is under way and closes.
    async fn close(&self);
}
