//! What was said, in order: the turns of a workspace as they are weighed, so that what stands around
//! what was found is at hand without the database. Kept in step with the rows as the index is.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use mnemic_core::Result;
use mnemic_core::ids::TurnId;
use mnemic_core::recall::Spoken;

use super::row_ref::RowRef;
use crate::Fields as _;

/// About what a turn takes besides its text: itself, its two places, and what it tells.
const TURN_BYTES: usize = 320;

#[derive(Default)]
pub(super) struct Talks {
    turns: HashMap<TurnId, Arc<Spoken>>,
    conversations: HashMap<Arc<str>, BTreeMap<i64, Arc<Spoken>>>,
    speakers: HashSet<Arc<str>>,
    text_bytes: usize,
}

impl Talks {
    /// Takes up a turn, or what has become of it.
    pub(super) fn put(&mut self, row: &RowRef<'_>) -> Result<()> {
        let id = TurnId(row.uuid("id")?);
        self.remove(id);
        let place = (self.conversation(row.text("topic")?), row.int("place")?);
        let speaker = row.opt_text("speaker")?.map(|name| self.speaker(name));
        let (content, at) = (row.text("content")?.into(), row.time("created_at")?);
        let spoken = Arc::new(Spoken::new(id, place, speaker, content, at));
        self.text_bytes += spoken.content.len();
        let talk = self.conversations.entry(spoken.conversation_id.clone()).or_default();
        talk.insert(spoken.index, spoken.clone());
        self.turns.insert(id, spoken);
        Ok(())
    }

    pub(super) fn remove(&mut self, id: TurnId) {
        let Some(spoken) = self.turns.remove(&id) else { return };
        self.text_bytes -= spoken.content.len();
        // Held by this one and the list of names alone: who has nothing left to say is forgotten.
        if let Some(name) = &spoken.speaker
            && Arc::strong_count(name) <= 2
        {
            self.speakers.remove(name);
        }
        if let Some(talk) = self.conversations.get_mut(&spoken.conversation_id) {
            // Another one may have taken its place before this was told.
            if talk.get(&spoken.index).is_some_and(|it| it.id == id) {
                talk.remove(&spoken.index);
            }
            if talk.is_empty() {
                self.conversations.remove(&spoken.conversation_id);
            }
        }
    }

    /// These turns and those at most so far from them, by conversation and index, each once.
    pub(super) fn around(&self, ids: &[TurnId], reach: i64) -> Vec<Arc<Spoken>> {
        let mut found: Vec<_> = ids.iter().filter_map(|id| self.turns.get(id)).collect();
        found.sort_unstable_by_key(|it| (&it.conversation_id, it.index));
        let mut around: Vec<Arc<Spoken>> = Vec::with_capacity(found.len());
        for spoken in found {
            let Some(talk) = self.conversations.get(&spoken.conversation_id) else { continue };
            let before = around.last().filter(|it| it.conversation_id == spoken.conversation_id);
            let from = spoken.index.saturating_sub(reach);
            let from = before.map_or(from, |it| from.max(it.index.saturating_add(1)));
            let to = spoken.index.saturating_add(reach);
            if from <= to {
                around.extend(talk.range(from..=to).map(|(_, it)| it.clone()));
            }
        }
        around
    }

    pub(super) fn bytes(&self) -> usize {
        self.turns.len() * TURN_BYTES + self.text_bytes
    }

    fn conversation(&self, name: &str) -> Arc<str> {
        let known = self.conversations.get_key_value(name);
        known.map_or_else(|| name.into(), |(known, _)| known.clone())
    }

    fn speaker(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.speakers.get(name) {
            return known.clone();
        }
        let new: Arc<str> = name.into();
        self.speakers.insert(new.clone());
        new
    }
}
