//! Erasure: removal without a way back, with a receipt that counts what went, and tombstones that
//! keep it from coming back.
//!
//! What is removed and what is written down of it are one commit, and the counts are those of the
//! statements that removed it. Neither receipts in the audit nor tombstones hold a word of what
//! was erased.

mod apply;
mod burial;
mod conversation;
mod grave;
mod subject;
mod tombstone;
mod user;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

pub use apply::{
    Graveyard, Plot, Reach, Revoked, adopt_tombstones, apply_all_tombstones, apply_tombstones,
    export_tombstones,
};
pub(crate) use burial::Burial;
pub(crate) use grave::Graves;
pub use tombstone::{Digest, Tombstone, TombstoneKey, TombstoneKind};

use crate::Mnemic;
use crate::answer::{Pending, Told};
use crate::error::{Error, Result};
use crate::principal::{Caller, Operation};
use crate::store::{Change, Epilogue};

/// What was removed or blanked, by noun. What there was nothing of is left out.
pub type Counts = BTreeMap<String, u64>;

/// What an erasure was asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubjectKind {
    Memory,
    /// Memories that nobody cited for long.
    Stale,
    Node,
    Connection,
    Conversation,
    User,
}

impl SubjectKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Stale => "stale",
            Self::Node => "node",
            Self::Connection => "connection",
            Self::Conversation => "conversation",
            Self::User => "user",
        }
    }
}

/// What became of the store's own files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Files {
    /// They were written anew and hold nothing of it.
    Rewritten,
    /// They could not be, and are with the next erasure, or with this one sent again.
    Pending,
    /// They are a database server's, which lets go of deleted rows in its own time.
    LeftToDatabase,
}

/// The proof of an erasure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    pub id: Uuid,
    pub erased_at: Timestamp,
    pub subject: SubjectKind,
    /// What was named; in what is kept of a receipt it is empty, because it may be a person's name.
    pub subject_id: String,
    pub counts: Counts,
    /// How many tombstones were set.
    pub tombstones: u64,
    pub files: Files,
}

impl Told for Receipt {}

/// An answer that an erasure gives. It is kept with its counts, which are known last.
pub(crate) trait Receipted: Told {
    fn receipt(&mut self) -> Option<&mut Receipt>;
}

impl Receipted for Receipt {
    fn receipt(&mut self) -> Option<&mut Receipt> {
        Some(self)
    }
}

impl Receipt {
    /// Takes the counts of a commit. What may be absent and was not there at all is not found.
    fn fill(&mut self, counts: &Counts) -> Result<()> {
        add(&mut self.counts, counts);
        let named = matches!(self.subject, SubjectKind::Conversation | SubjectKind::User);
        if named && self.counts.is_empty() {
            return Err(Error::not_found(self.subject.as_str()));
        }
        Ok(())
    }
}

fn add(to: &mut Counts, counts: &Counts) {
    for (noun, count) in counts.iter().filter(|(_, count)| **count > 0) {
        *to.entry(noun.clone()).or_default() += count;
    }
}

impl Mnemic {
    /// A receipt whose counts are yet to come.
    pub(crate) fn receipt(&self, subject: SubjectKind, id: &str) -> Receipt {
        let erased_at = self.clock.now();
        Receipt {
            id: self.ids.next(erased_at),
            erased_at,
            subject,
            subject_id: id.to_owned(),
            counts: Counts::new(),
            tombstones: 0,
            files: Files::Pending,
        }
    }

    /// Erases as [`decide`](Self::decide) changes: what `decide` returns is removed, counted,
    /// written down and answered in one commit. Then the texts leave the files.
    pub(crate) async fn erase<'d, T>(
        &self,
        caller: &Caller,
        operation: &'static Operation,
        decide: impl Fn() -> Pending<'d, (T, Vec<Change>)> + Send + Sync,
    ) -> Result<T>
    where
        T: Receipted + Clone + Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        let mut erased = self.erase_rows(caller, operation, decide).await?;
        if let Some(receipt) = erased.receipt() {
            // Also of an answer given again: the first request may have been cut off before this.
            receipt.files = self.store.scrub().await;
        }
        Ok(erased)
    }

    /// The same, leaving the files for later.
    async fn erase_rows<'d, T>(
        &self,
        caller: &Caller,
        operation: &'static Operation,
        decide: impl Fn() -> Pending<'d, (T, Vec<Change>)> + Send + Sync,
    ) -> Result<T>
    where
        T: Receipted + Clone + Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        let started = self.clock.now();
        let outcome = self.retry_stale(|| {
            Box::pin(async {
                if let Some(first) = self.replay::<T>(caller).await? {
                    self.check_told(caller, &first).await?;
                    return Ok(first);
                }
                let (mut result, changes) = decide().await?;
                self.check_domains(caller, &changes).await?;
                // What waits to be written down must not be written after it was to go.
                self.flush_audit().await;
                self.flush_accesses().await;
                let epilogue = self.epilogue(caller, operation, &result, &changes, started);
                let counts = self.store.commit_counted(caller.scope(), changes, epilogue).await?;
                if let Some(receipt) = result.receipt() {
                    receipt.fill(&counts)?;
                }
                Ok(result)
            })
        });
        let outcome = outcome.await;
        if let Err(e) = &outcome {
            self.note_failure(&caller.principal, operation, e, started);
        }
        outcome
    }

    /// The audit's entries, the first of them with the counts, and the answer that is kept.
    fn epilogue<T>(
        &self,
        caller: &Caller,
        operation: &'static Operation,
        result: &T,
        changes: &[Change],
        started: Timestamp,
    ) -> Epilogue
    where
        T: Receipted + Clone + Serialize + Send + Sync + 'static,
    {
        let entries = self.audit_changes(&written_as(caller, changes), operation, changes, started);
        let (draft, caller, now) = (result.clone(), caller.clone(), self.clock.now());
        Box::new(move |counts| {
            let (mut told, mut entries) = (draft.clone(), entries.clone());
            if let Some(receipt) = told.receipt() {
                receipt.fill(counts)?;
                receipt.subject_id.clear();
                if let Some(Change::AddAudit(entry)) = entries.first_mut() {
                    entry.details = Some(json!({
                        "receipt": receipt.id,
                        "counts": receipt.counts,
                        "tombstones": receipt.tombstones,
                    }));
                }
            }
            entries.extend(crate::answer::answer_change(&caller, &told, now)?);
            Ok(entries)
        })
    }
}

/// Who the audit says it was: nobody by name, where somebody erases themselves.
fn written_as(caller: &Caller, changes: &[Change]) -> crate::principal::Principal {
    let mut principal = caller.principal.clone();
    let is_own = |change: &Change| matches!(change, Change::EraseUser { user, .. } if principal.user.as_ref() == Some(user));
    if changes.iter().any(is_own) {
        (principal.user, principal.agent) = (None, None);
    }
    principal
}
