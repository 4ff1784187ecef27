//! The port to whatever keeps slots: a cache, apart from the store of records.
//!
//! The contract: what was put is read until its time to live has passed since it was last put or
//! read; from then on it is absent. Nothing that is live is dropped to make room: a put that
//! finds none is refused. What keeps them may be away; every call then fails within two seconds
//! with `Code::SlotsUnavailable`, and works again when it is back.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{SlotName, Ttl};
use crate::conversation::ConversationId;
use crate::error::Result;
use crate::principal::Scope;
use crate::store::Finding;

/// The slots of one conversation.
#[derive(Debug, Clone)]
pub struct Shelf {
    pub scope: Scope,
    pub conversation: ConversationId,
}

/// A slot as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub name: SlotName,
    /// JSON.
    pub value: String,
    pub ttl: Ttl,
}

/// A part of a conversation's slots, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    pub slots: Vec<Kept>,
    /// The last name that was looked at, if there may be more behind it.
    pub more_after: Option<SlotName>,
}

/// How much of a conversation is listed at once: the values together have at most `bytes_max`
/// bytes, but for a first one that is larger.
#[derive(Debug, Clone, Copy)]
pub struct Portion {
    pub slots_max: usize,
    pub bytes_max: usize,
}

/// `now` is core's time. A server that expires slots by a clock of its own need not look at it.
#[async_trait]
pub trait Slots: Send + Sync + 'static {
    async fn put(&self, shelf: &Shelf, slot: Kept, now: Timestamp) -> Result<()>;
    /// Reads a slot and lets its time to live begin anew.
    async fn read(&self, shelf: &Shelf, name: &SlotName, now: Timestamp) -> Result<Option<Kept>>;
    /// Reads those behind `after`, in the order of their names, as [`Self::read`] does.
    async fn list(
        &self,
        shelf: &Shelf,
        after: Option<&SlotName>,
        portion: Portion,
        now: Timestamp,
    ) -> Result<Listing>;
    /// Whether there was one.
    async fn delete(&self, shelf: &Shelf, name: &SlotName, now: Timestamp) -> Result<bool>;
    /// Removes all slots of a conversation; says how many.
    async fn clear(&self, shelf: &Shelf, now: Timestamp) -> Result<u64>;
    /// Removes all slots of a workspace; says how many.
    async fn erase(&self, scope: Scope, now: Timestamp) -> Result<u64>;
    /// Lets go of what has expired, where that does not happen by itself.
    async fn sweep(&self, now: Timestamp);
    /// Whether slots can be used; cheap enough for a probe.
    async fn ping(&self) -> Result<()>;
    /// How well they are, for `doctor`.
    async fn check(&self) -> Finding;
}
