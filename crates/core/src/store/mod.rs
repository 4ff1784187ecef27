//! The ports to a store: what core needs kept, found and changed.
//!
//! The contract: [`Store::commit`] makes all of its changes or none, and when it returns they
//! are durable, visible to every later read, and found by every later search. Lookups return
//! what is stored, deleted or not; rules about visibility are core's. A lost race is
//! `Code::Stale`, and nothing was written.

mod access;
mod action;
mod answer;
mod audit;
mod change;
mod conversation;
mod edge;
mod entity;
mod erasure;
mod fading;
mod goal;
mod job;
mod memory;
mod metric;
mod node;
mod pattern;
mod procedure;
mod profile;
mod review;
mod run;
mod search;
mod secret;
mod sequence;
mod timeline;
mod token;
mod vector;
mod workspace;

use async_trait::async_trait;

use crate::error::Result;
use crate::principal::Scope;
pub use access::AccessStore;
pub use action::ActionStore;
pub use answer::AnswerStore;
pub use audit::AuditStore;
pub use change::Change;
pub use conversation::ConversationStore;
pub use edge::EdgeStore;
pub use entity::EntityStore;
pub use erasure::{Epilogue, ErasureStore, TombstoneChange};
pub use fading::{Faded, FadingStore};
pub use goal::GoalStore;
pub use job::JobStore;
pub use memory::MemoryStore;
pub use metric::MetricStore;
pub use node::{Bearer, NodeStore};
pub use pattern::PatternStore;
pub use procedure::{StrategyStore, ToolStore};
pub use profile::ProfileStore;
pub use review::ReviewStore;
pub use run::RunStore;
pub use search::{PieceLikeness, Search};
pub use secret::SecretStore;
pub use sequence::SequenceStore;
pub use timeline::TimelineStore;
pub use token::TokenStore;
pub use vector::{Embedded, Unembedded, VectorStore};
pub use workspace::WorkspaceStore;

/// How well a store is, for `doctor` and `/readyz`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub part: String,
    pub ok: bool,
    pub detail: String,
}

#[async_trait]
pub trait Store:
    WorkspaceStore
    + TokenStore
    + MemoryStore
    + NodeStore
    + EdgeStore
    + EntityStore
    + RunStore
    + AnswerStore
    + SecretStore
    + JobStore
    + AuditStore
    + AccessStore
    + ConversationStore
    + GoalStore
    + StrategyStore
    + ToolStore
    + PatternStore
    + ProfileStore
    + TimelineStore
    + ReviewStore
    + MetricStore
    + FadingStore
    + ActionStore
    + SequenceStore
    + ErasureStore
    + VectorStore
    + Search
    + Send
    + Sync
    + 'static
{
    async fn commit(&self, scope: Scope, changes: Vec<Change>) -> Result<()>;
    /// Commits without a wait for the disk: everybody sees it and it outlives the process, but it may
    /// be lost with the machine. For what nobody was told is kept.
    async fn commit_hastily(&self, scope: Scope, changes: Vec<Change>) -> Result<()>;
    /// Looks the store over; `thorough` reads all of it.
    async fn check(&self, thorough: bool) -> Result<Vec<Finding>>;
    /// Waits for what is under way and closes.
    async fn close(&self);
}
