//! Slots in the memory of this process: for one server, or none. They are gone when it ends.
//!
//! Time comes with each call, so there is no clock and no task here: whatever has expired is
//! absent at once, and whoever comes next lets go of it.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use mnemic_core::ids::WorkspaceId;
use mnemic_core::principal::Scope;
use mnemic_core::slot::{Kept, Listing, Portion, Shelf, SlotName, Slots, Ttl};
use mnemic_core::store::Finding;
use mnemic_core::{Code, Error, Result};

/// How much memory all slots together may take.
pub const BYTES_MAX_DEFAULT: usize = 256 * 1024 * 1024;
pub const CONVERSATION_SLOTS_MAX: usize = 1_000;
/// What a slot takes besides its texts, generously.
const OVERHEAD_BYTES: usize = 256;
/// How many expired slots one call lets go of, so that none takes long.
const SWEEP_MAX: usize = 4_096;

pub struct InProcessSlots {
    state: Mutex<State>,
    bytes_max: usize,
}

/// Ordered so that the slots of a conversation, and those of a workspace, stand together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    workspace: WorkspaceId,
    conversation: String,
    /// Empty, which no name is, for the place before all slots of the conversation.
    name: String,
}

struct Entry {
    value: String,
    ttl: Ttl,
    expires_at: Timestamp,
}

#[derive(Default)]
struct State {
    slots: BTreeMap<Arc<Key>, Entry>,
    expiries: BTreeSet<(Timestamp, Arc<Key>)>,
    bytes: usize,
}

impl InProcessSlots {
    pub fn new(bytes_max: usize) -> Self {
        Self { state: Mutex::default(), bytes_max }
    }

    fn state(&self, now: Timestamp) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.sweep(now, SWEEP_MAX);
        state
    }
}

impl Default for InProcessSlots {
    fn default() -> Self {
        Self::new(BYTES_MAX_DEFAULT)
    }
}

impl State {
    /// Whether the slot is there, as far as anybody can see.
    fn is_live(&self, key: &Key, now: Timestamp) -> bool {
        self.slots.get(key).is_some_and(|entry| entry.expires_at > now)
    }

    fn insert(&mut self, key: Key, value: String, ttl: Ttl, now: Timestamp) {
        self.remove(&key);
        let key = Arc::new(key);
        let expires_at = expiry(now, ttl);
        self.bytes += cost(&key, &value);
        self.expiries.insert((expires_at, Arc::clone(&key)));
        self.slots.insert(key, Entry { value, ttl, expires_at });
    }

    fn remove(&mut self, key: &Key) -> bool {
        let Some((key, entry)) = self.slots.remove_entry(key) else { return false };
        self.bytes -= cost(&key, &entry.value);
        self.expiries.remove(&(entry.expires_at, key));
        true
    }

    /// Reads a live slot and lets its time begin anew.
    fn touch(&mut self, key: &Key, now: Timestamp) -> Option<(&str, Ttl)> {
        if !self.is_live(key, now) {
            return None;
        }
        let (shared, _) = self.slots.get_key_value(key)?;
        let shared = Arc::clone(shared);
        let entry = self.slots.get_mut(key)?;
        self.expiries.remove(&(entry.expires_at, Arc::clone(&shared)));
        entry.expires_at = expiry(now, entry.ttl);
        self.expiries.insert((entry.expires_at, shared));
        Some((&entry.value, entry.ttl))
    }

    fn sweep(&mut self, now: Timestamp, limit: usize) {
        for _ in 0..limit {
            let Some((at, key)) = self.expiries.first() else { return };
            if *at > now {
                return;
            }
            let key = Arc::clone(key);
            self.remove(&key);
        }
    }

    /// The live keys behind `from` that `belongs` holds for; it must hold for a stretch of them.
    fn live_keys(
        &self,
        from: &Key,
        now: Timestamp,
        belongs: impl Fn(&Key) -> bool,
    ) -> impl Iterator<Item = &Arc<Key>> {
        self.slots
            .range::<Key, _>((Bound::Excluded(from), Bound::Unbounded))
            .take_while(move |(key, _)| belongs(key))
            .filter(move |(_, entry)| entry.expires_at > now)
            .map(|(key, _)| key)
    }

    fn remove_all(&mut self, keys: &[Arc<Key>]) -> u64 {
        keys.iter().filter(|key| self.remove(key)).count() as u64
    }
}

#[async_trait]
impl Slots for InProcessSlots {
    async fn put(&self, shelf: &Shelf, slot: Kept, now: Timestamp) -> Result<()> {
        let Kept { name, value, ttl } = slot;
        let key = key(shelf, name.as_str());
        let mut state = self.state(now);
        if !state.is_live(&key, now) {
            let start = self::key(shelf, "");
            let count = state.live_keys(&start, now, |key| is_of(key, shelf)).count();
            if count >= CONVERSATION_SLOTS_MAX {
                return Err(Error::conflict(format!(
                    "the conversation has {CONVERSATION_SLOTS_MAX} slots already, which is the \
                     limit: delete some, or clear it"
                )));
            }
        }
        let held = state.slots.get(&key).map_or(0, |entry| cost(&key, &entry.value));
        let needed = cost(&key, &value);
        if state.bytes - held + needed > self.bytes_max {
            state.sweep(now, usize::MAX);
        }
        // What the slot holds now may have gone with the sweep.
        let held = state.slots.get(&key).map_or(0, |entry| cost(&key, &entry.value));
        if state.bytes - held + needed > self.bytes_max {
            return Err(self.full());
        }
        state.insert(key, value, ttl, now);
        metrics::gauge!("mnemic_slots_bytes").set(state.bytes as f64);
        Ok(())
    }

    async fn read(&self, shelf: &Shelf, name: &SlotName, now: Timestamp) -> Result<Option<Kept>> {
        let mut state = self.state(now);
        let found = state.touch(&key(shelf, name.as_str()), now);
        Ok(found.map(|(value, ttl)| Kept { name: name.clone(), value: value.to_owned(), ttl }))
    }

    async fn list(
        &self,
        shelf: &Shelf,
        after: Option<&SlotName>,
        portion: Portion,
        now: Timestamp,
    ) -> Result<Listing> {
        let mut state = self.state(now);
        let start = key(shelf, after.map_or("", SlotName::as_str));
        let wanted = portion.slots_max.saturating_add(1);
        let keys: Vec<_> =
            state.live_keys(&start, now, |key| is_of(key, shelf)).take(wanted).cloned().collect();
        let mut listing = Listing { slots: Vec::new(), more_after: None };
        let mut bytes = 0_usize;
        for key in &keys {
            let length = state.slots.get(key).map_or(0, |entry| entry.value.len());
            let is_full = !listing.slots.is_empty() && bytes + length > portion.bytes_max;
            if listing.slots.len() == portion.slots_max || is_full {
                listing.more_after = listing.slots.last().map(|last: &Kept| last.name.clone());
                break;
            }
            bytes += length;
            if let Some((value, ttl)) = state.touch(key, now) {
                let (name, value) = (key.name.parse()?, value.to_owned());
                listing.slots.push(Kept { name, value, ttl });
            }
        }
        Ok(listing)
    }

    async fn delete(&self, shelf: &Shelf, name: &SlotName, now: Timestamp) -> Result<bool> {
        let mut state = self.state(now);
        let key = key(shelf, name.as_str());
        let was_live = state.is_live(&key, now);
        state.remove(&key);
        Ok(was_live)
    }

    async fn clear(&self, shelf: &Shelf, now: Timestamp) -> Result<u64> {
        let mut state = self.state(now);
        let start = key(shelf, "");
        let keys: Vec<_> = state.live_keys(&start, now, |key| is_of(key, shelf)).cloned().collect();
        Ok(state.remove_all(&keys))
    }

    async fn erase(&self, scope: Scope, now: Timestamp) -> Result<u64> {
        let mut state = self.state(now);
        state.sweep(now, usize::MAX);
        let workspace = scope.workspace();
        let start = Key { workspace, conversation: String::new(), name: String::new() };
        let keys: Vec<_> =
            state.live_keys(&start, now, |key| key.workspace == workspace).cloned().collect();
        Ok(state.remove_all(&keys))
    }

    async fn sweep(&self, now: Timestamp) {
        let mut state = self.state(now);
        state.sweep(now, usize::MAX);
        metrics::gauge!("mnemic_slots_bytes").set(state.bytes as f64);
    }

    async fn ping(&self) -> Result<()> {
        Ok(())
    }

    async fn check(&self) -> Finding {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let detail = format!(
            "in this process alone: {} slots in {} of {} bytes",
            state.slots.len(),
            state.bytes,
            self.bytes_max
        );
        Finding { part: "slots".to_owned(), ok: true, detail }
    }
}

impl InProcessSlots {
    fn full(&self) -> Error {
        let detail = format!(
            "the room for slots is full ({} bytes): delete some, wait until some expire, or keep \
             them in Redis",
            self.bytes_max
        );
        Error::new(Code::SlotsUnavailable, detail)
    }
}

fn key(shelf: &Shelf, name: &str) -> Key {
    Key {
        workspace: shelf.scope.workspace(),
        conversation: shelf.conversation.as_str().to_owned(),
        name: name.to_owned(),
    }
}

fn is_of(key: &Key, shelf: &Shelf) -> bool {
    key.workspace == shelf.scope.workspace() && key.conversation == shelf.conversation.as_str()
}

fn cost(key: &Key, value: &str) -> usize {
    key.conversation.len() + key.name.len() + value.len() + OVERHEAD_BYTES
}

fn expiry(now: Timestamp, ttl: Ttl) -> Timestamp {
    let life = SignedDuration::from_secs(i64::from(ttl.seconds()));
    now.checked_add(life).unwrap_or(Timestamp::MAX)
}
