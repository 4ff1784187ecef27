//! The index itself: keeps keys, words, tags, numbers and vectors of each slot in step.

use crate::analysis::Analyzer;
use crate::bm25;
use crate::bulk::Loader;
use crate::code::{Code, DIMENSIONS_MAX};
use crate::columns::Column;
use crate::document::{Document, Error, Hit, Key, NUMBERS};
use crate::filter::{Filter, Selection};
use crate::forward::Forward;
use crate::interner::Interner;
use crate::pieces::Pieces;
use crate::postings::{List, SLOTS_MAX};
use crate::slot_set::SlotSet;
use crate::text::matched_words;
use crate::vectors::Vectors;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// A set of documents, searchable by words and by vector.
///
/// Searches take `&self` and see every change made before them. Slots are `0..len()`, without
/// holes.
#[derive(Debug)]
pub struct Index {
    hasher: DefaultHashBuilder,
    slots: HashTable<u32>,
    keys: Vec<Key>,
    lexicon: Interner<List>,
    tags: Interner<SlotSet>,
    forward: Forward,
    lengths: Vec<u8>,
    total_length: u64,
    columns: [Column; NUMBERS],
    vectors: Option<Vectors>,
    pieces: Vec<Pieces>,
    piece_bytes: usize,
    /// What the lists of terms and tags hold, kept up to date so that asking is free.
    list_bytes: usize,
}

/// A document's terms, ready to be listed: each term's id and frequency, ascending by id.
pub(crate) struct Terms<'a> {
    pub(crate) counts: &'a [(u32, u32)],
    /// How many words the text has, repetitions included.
    pub(crate) length: u32,
}

impl Index {
    /// An empty index. Without dimensions, or with more than [`DIMENSIONS_MAX`], it takes no
    /// vectors.
    pub fn new(dimensions: Option<usize>) -> Self {
        let dimensions = dimensions.filter(|dims| (1..=DIMENSIONS_MAX).contains(dims));
        Self {
            hasher: DefaultHashBuilder::default(),
            slots: HashTable::new(),
            keys: Vec::new(),
            lexicon: Interner::new(),
            tags: Interner::new(),
            forward: Forward::default(),
            lengths: Vec::new(),
            total_length: 0,
            columns: Default::default(),
            vectors: dimensions.map(Vectors::new),
            pieces: Vec::new(),
            piece_bytes: 0,
            list_bytes: 0,
        }
    }

    /// Adds a document, or replaces the one with the same key. On an error nothing has changed.
    pub fn put(&mut self, document: &Document<'_>) -> Result<(), Error> {
        self.check(document)?;
        let mut ids = Vec::with_capacity(64);
        let lexicon = &mut self.lexicon;
        // The old document goes first, but its words must not be forgotten only to be learnt
        // again, nor the new ones be released as unused: so first the new ids, then the change.
        Analyzer::default().terms(document.text, &mut |term| ids.push(lexicon.intern(term)));
        let length = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        self.write(document, &Terms { counts: &count(ids), length });
        self.refresh_vectors();
        Ok(())
    }

    /// Adds or replaces many documents at once; see [`Loader::extend`].
    pub fn extend(&mut self, documents: &[Document<'_>]) -> Result<(), Error> {
        self.loader().extend(documents)
    }

    /// For adding many documents in several batches.
    pub fn loader(&mut self) -> Loader<'_> {
        Loader::new(self)
    }

    /// Gives a document another vector, or none, without touching its words. Returns whether
    /// there is such a document.
    pub fn set_vector(&mut self, key: &Key, vector: Option<Code<'_>>) -> Result<bool, Error> {
        self.check_vector(vector)?;
        let Some(slot) = self.slot(key) else { return Ok(false) };
        self.write_vector(slot, vector);
        self.refresh_vectors();
        Ok(true)
    }

    /// Takes a document out. Returns whether there was one.
    pub fn remove(&mut self, key: &Key) -> bool {
        let hash = self.hasher.hash_one(key);
        let keys = &self.keys;
        let Ok(entry) = self.slots.find_entry(hash, |&slot| keys[slot as usize] == *key) else {
            return false;
        };
        let (slot, _) = entry.remove();
        self.unlist(slot);
        self.fill_hole(slot);
        true
    }

    pub fn contains(&self, key: &Key) -> bool {
        self.slot(key).is_some()
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// How many documents have a vector.
    pub fn vectors_len(&self) -> usize {
        self.vectors.as_ref().map_or(0, Vectors::count)
    }

    pub fn dimensions(&self) -> Option<usize> {
        self.vectors.as_ref().map(Vectors::dimensions)
    }

    /// About how many bytes of memory the index holds.
    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.slots.allocation_size()
            + self.keys.capacity() * size_of::<Key>()
            + self.lexicon.bytes()
            + self.tags.bytes()
            + self.list_bytes
            + self.forward.bytes()
            + self.lengths.capacity()
            + self.columns.iter().map(Column::bytes).sum::<usize>()
            + self.vectors.as_ref().map_or(0, Vectors::bytes)
            + self.pieces.capacity() * size_of::<Pieces>()
            + self.piece_bytes
    }

    /// The documents that pass a filter, for several searches.
    pub fn select(&self, filter: &Filter) -> Selection<'_> {
        Selection::new(self, filter)
    }

    /// The best `k` documents for the words of a query, best first.
    pub fn words(&self, query: &str, filter: &Filter, k: usize) -> Vec<Hit> {
        self.select(filter).words(query, k)
    }

    /// The `k` documents nearest to the query by approximate cosine, best first. A query of the
    /// wrong dimensions or without direction finds nothing.
    pub fn nearest(&self, query: &[f32], filter: &Filter, k: usize) -> Vec<Hit> {
        self.select(filter).nearest(query, k)
    }

    /// Which of the query's words, as they were written, a document has.
    pub fn matched_terms(&self, query: &str, key: &Key) -> Vec<String> {
        let Some(slot) = self.slot(key) else { return Vec::new() };
        matched_words(query, |term| {
            self.lexicon.lookup(term).is_some_and(|id| self.lexicon.get(id).contains(slot))
        })
    }

    pub(crate) fn pieces_of(&self, key: &Key) -> Option<&Pieces> {
        self.pieces.get(self.slot(key)? as usize)
    }

    pub(crate) fn keys(&self) -> &[Key] {
        &self.keys
    }

    pub(crate) fn lexicon(&self) -> &Interner<List> {
        &self.lexicon
    }

    pub(crate) fn lexicon_mut(&mut self) -> &mut Interner<List> {
        &mut self.lexicon
    }

    pub(crate) fn length_codes(&self) -> &[u8] {
        &self.lengths
    }

    #[expect(clippy::cast_precision_loss, reason = "an average needs no more than an f32 holds")]
    pub(crate) fn average_length(&self) -> f32 {
        self.total_length as f32 / self.len().max(1) as f32
    }

    pub(crate) fn vectors(&self) -> Option<&Vectors> {
        self.vectors.as_ref()
    }

    pub(crate) fn tag(&self, tag: &str) -> Option<&SlotSet> {
        self.tags.lookup(tag).map(|id| self.tags.get(id))
    }

    pub(crate) fn column(&self, column: usize) -> &Column {
        &self.columns[column]
    }

    /// Writes a checked document whose terms have been interned.
    pub(crate) fn write(&mut self, document: &Document<'_>, terms: &Terms<'_>) {
        let slot = if let Some(slot) = self.slot(&document.key) {
            self.unlist_except(slot, terms);
            slot
        } else {
            self.push_key(document.key)
        };
        let slots = self.len();
        let code = bm25::length_code(terms.length);
        put_at(&mut self.lengths, slot, code);
        self.total_length += u64::from(bm25::length_of(code));
        for &(id, tf) in terms.counts {
            let list = self.lexicon.get_mut(id);
            let before = list.bytes();
            list.insert(slot, tf, code, slots);
            self.list_bytes = self.list_bytes + list.bytes() - before;
        }
        let mut tags: Vec<u32> = document.tags.iter().map(|tag| self.tags.intern(tag)).collect();
        tags.sort_unstable();
        tags.dedup();
        for &id in &tags {
            let set = self.tags.get_mut(id);
            let before = set.bytes();
            set.insert(slot, slots);
            self.list_bytes = self.list_bytes + set.bytes() - before;
        }
        self.forward.put(slot, &tags, terms.counts.iter().map(|&(id, _)| id));
        for (column, value) in self.columns.iter_mut().zip(document.numbers) {
            column.put(slot, value);
        }
        self.write_vector(slot, document.vector);
        let pieces = Pieces::new(document.pieces, self.dimensions().unwrap_or(0));
        self.piece_bytes += pieces.bytes();
        put_at(&mut self.pieces, slot, pieces);
    }

    pub(crate) fn check_all(&self, documents: &[Document<'_>]) -> Result<(), Error> {
        if self.len() + documents.len() > SLOTS_MAX {
            return Err(Error::Full);
        }
        documents.iter().try_for_each(|document| self.check_vector(document.vector))
    }

    /// To be called after vectors have changed.
    pub(crate) fn refresh_vectors(&mut self) {
        if let Some(vectors) = &mut self.vectors {
            vectors.refresh();
        }
    }

    fn check(&self, document: &Document<'_>) -> Result<(), Error> {
        self.check_vector(document.vector)?;
        if self.len() >= SLOTS_MAX && !self.contains(&document.key) {
            return Err(Error::Full);
        }
        Ok(())
    }

    fn check_vector(&self, vector: Option<Code<'_>>) -> Result<(), Error> {
        let expected = self.dimensions();
        match vector {
            Some(code) if Some(code.dimensions()) != expected => {
                Err(Error::Dimensions { expected, got: code.dimensions() })
            }
            _ => Ok(()),
        }
    }

    fn write_vector(&mut self, slot: u32, vector: Option<Code<'_>>) {
        match (&mut self.vectors, vector) {
            (Some(vectors), Some(code)) => vectors.put(slot, code),
            (Some(vectors), None) => vectors.clear(slot),
            (None, _) => {}
        }
    }

    /// The slot of each document that is there. Nothing else is done in between, so that the processor
    /// has many of them on their way from memory at once.
    pub(crate) fn slots(&self, keys: &[Key]) -> Vec<Option<u32>> {
        keys.iter().map(|key| self.slot(key)).collect()
    }

    pub(crate) fn slot(&self, key: &Key) -> Option<u32> {
        let hash = self.hasher.hash_one(key);
        self.slots.find(hash, |&slot| self.keys[slot as usize] == *key).copied()
    }

    fn push_key(&mut self, key: Key) -> u32 {
        let Self { hasher, slots, keys, .. } = self;
        let slot = u32::try_from(keys.len()).unwrap_or(u32::MAX);
        put_at(keys, slot, key);
        let hash = hasher.hash_one(key);
        slots.insert_unique(hash, slot, |&slot| hasher.hash_one(keys[slot as usize]));
        slot
    }

    fn unlist(&mut self, slot: u32) {
        self.unlist_except(slot, &Terms { counts: &[], length: 0 });
    }

    /// Takes a slot out of all its lists, and forgets the words and tags that nothing has any
    /// more, except the terms that are about to be listed.
    fn unlist_except(&mut self, slot: u32, keep: &Terms<'_>) {
        let record = self.forward.get(slot);
        let slots = self.len();
        for id in record.terms {
            let list = self.lexicon.get_mut(id);
            let before = list.bytes();
            list.remove(slot, slots);
            self.list_bytes = self.list_bytes + list.bytes() - before;
            let kept = keep.counts.binary_search_by_key(&id, |&(id, _)| id).is_ok();
            if list.len() == 0 && !kept {
                self.lexicon.release(id);
            }
        }
        for id in record.tags {
            let set = self.tags.get_mut(id);
            let before = set.bytes();
            set.remove(slot, slots);
            self.list_bytes = self.list_bytes + set.bytes() - before;
            if set.is_empty() {
                self.tags.release(id);
            }
        }
        self.total_length -= u64::from(bm25::length_of(self.lengths[slot as usize]));
        if let Some(vectors) = &mut self.vectors {
            vectors.clear(slot);
        }
        self.piece_bytes -= std::mem::take(&mut self.pieces[slot as usize]).bytes();
    }

    /// Moves the last document into a slot that has been unlisted, so that no hole remains.
    fn fill_hole(&mut self, hole: u32) {
        let last = u32::try_from(self.len() - 1).unwrap_or(u32::MAX);
        let slots = self.len() - 1;
        if hole != last {
            let record = self.forward.get(last);
            let code = self.lengths[last as usize];
            for &id in &record.terms {
                let list = self.lexicon.get_mut(id);
                let before = list.bytes();
                let tf = list.remove(last, slots).unwrap_or(1);
                list.insert(hole, tf, code, slots);
                self.list_bytes = self.list_bytes + list.bytes() - before;
            }
            for &id in &record.tags {
                let set = self.tags.get_mut(id);
                let before = set.bytes();
                set.remove(last, slots);
                set.insert(hole, slots);
                self.list_bytes = self.list_bytes + set.bytes() - before;
            }
            self.forward.put(hole, &record.tags, record.terms.into_iter());
            self.lengths[hole as usize] = code;
            for column in &mut self.columns {
                column.put(hole, column.get(last));
            }
            let key = self.keys[last as usize];
            let hash = self.hasher.hash_one(key);
            if let Some(slot) = self.slots.find_mut(hash, |&slot| slot == last) {
                *slot = hole;
            }
            self.keys[hole as usize] = key;
        }
        if let Some(vectors) = &mut self.vectors {
            vectors.move_last(last, hole);
        }
        self.keys.pop();
        self.pieces.swap_remove(hole as usize);
        self.lengths.pop();
        self.forward.pop();
        self.columns.iter_mut().for_each(Column::pop);
    }
}

/// Writes an element that exists or is the next one, growing by an eighth instead of doubling.
fn put_at<T>(list: &mut Vec<T>, slot: u32, value: T) {
    if let Some(element) = list.get_mut(slot as usize) {
        *element = value;
        return;
    }
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 8 + 16);
    }
    list.push(value);
}

/// Each id once, with how often it was there.
fn count(mut ids: Vec<u32>) -> Vec<(u32, u32)> {
    ids.sort_unstable();
    let mut counts: Vec<(u32, u32)> = Vec::with_capacity(ids.len());
    for id in ids {
        match counts.last_mut() {
            Some((last, tf)) if *last == id => *tf += 1,
            _ => counts.push((id, 1)),
        }
    }
    counts
}
