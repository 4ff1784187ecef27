//! The ports to a store: what core needs kept, found and changed.
//!
//! The contract: [`Store::commit`] makes all of its changes or none, and when it returns they
//! are durable, visible to every later read, and found by every later search. Lookups return
//! what is stored, deleted or not; rules about visibility are core's. A lost race is
//! `Code::Stale`, and nothing was written.

mod access;
mod answer;
mod audit;
mod job;
mod memory;
mod run;
mod search;
mod token;
mod vector;
mod workspace;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

pub use access::AccessStore;
pub use answer::AnswerStore;
pub use audit::AuditStore;
pub use job::JobStore;
pub use memory::MemoryStore;
pub use run::RunStore;
pub use search::Search;
pub use token::TokenStore;
pub use vector::{Embedded, Unembedded, VectorStore};
pub use workspace::WorkspaceStore;

use crate::answer::Answer;
use crate::audit::Entry;
use crate::domain::Domain;
use crate::edge::Edge;
use crate::error::Result;
use crate::ids::MemoryId;
use crate::job::LastRun;
use crate::memory::Memory;
use crate::policy::Policy;
use crate::principal::Scope;
use crate::run::Run;

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
    /// Removes a memory of a domain, with its vectors, edges, citations and kept answers.
    EraseMemory {
        id: MemoryId,
        domain: Option<String>,
    },
    /// The same, if it is still stale with regard to `before`.
    EraseStale {
        id: MemoryId,
        domain: Option<String>,
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
    /// Makes a domain, or gives it its description.
    PutDomain(Domain),
    /// Makes a domain unless there is one.
    EnsureDomain(Domain),
    AddPolicy(Policy),
    /// The stored revision must be the one before.
    UpdatePolicy(Policy),
    AddAudit(Box<Entry>),
    /// Prolongs a claim; refused as `Code::ClaimLost` once somebody else has it.
    HoldClaim {
        job: &'static str,
        epoch: i64,
        until: Timestamp,
    },
    /// Ends a claim and writes down how the run went; refused like the above.
    FinishJob {
        job: &'static str,
        epoch: i64,
        run: LastRun,
    },
}

impl Change {
    /// The domain that is written to: what the audit notes, and what grants are asked about.
    pub(crate) fn domain(&self) -> Option<&str> {
        match self {
            Self::PutDomain(domain) => Some(&domain.name),
            Self::AddPolicy(policy) | Self::UpdatePolicy(policy) => Some(&policy.domain),
            Self::EraseMemory { domain, .. } | Self::EraseStale { domain, .. } => domain.as_deref(),
            _ => self.memory().and_then(|memory| memory.domain.as_deref()),
        }
    }

    /// The record that is changed, for the audit.
    pub(crate) fn record(&self) -> Option<Uuid> {
        match self {
            Self::AddMemory(memory) | Self::UpdateMemory { memory, .. } => Some(memory.id.0),
            Self::EraseMemory { id, .. }
            | Self::EraseStale { id, .. }
            | Self::CountCitation { memory_id: id, .. } => Some(id.0),
            Self::AddPolicy(policy) | Self::UpdatePolicy(policy) => Some(policy.id.0),
            _ => None,
        }
    }

    pub(crate) fn channel(&self) -> Option<&str> {
        self.memory().map(|memory| memory.channel.as_str())
    }

    /// What is written, as the audit keeps it at its highest level.
    pub(crate) fn payload(&self) -> Option<Value> {
        self.memory().and_then(|memory| serde_json::to_value(memory).ok())
    }

    fn memory(&self) -> Option<&Memory> {
        match self {
            Self::AddMemory(memory) | Self::UpdateMemory { memory, .. } => Some(memory),
            _ => None,
        }
    }

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
    + RunStore
    + AnswerStore
    + JobStore
    + AuditStore
    + AccessStore
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
