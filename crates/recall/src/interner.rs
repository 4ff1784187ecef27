//! Strings to small numbers and back to what is kept under them: the lexicon and the tags.
//!
//! Ids are reused once their string is no longer needed, so that an index whose documents come
//! and go does not grow with every word it has ever seen.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

#[derive(Debug)]
pub(crate) struct Interner<V> {
    hasher: DefaultHashBuilder,
    table: HashTable<u32>,
    entries: Vec<Entry<V>>,
    free: Vec<u32>,
    long_bytes: usize,
}

#[derive(Debug)]
struct Entry<V> {
    text: Text,
    value: V,
}

/// Most words are short; keeping them inline saves an allocation for each.
#[derive(Debug)]
pub(crate) enum Text {
    Short(u8, [u8; SHORT]),
    Long(Box<[u8]>),
}

const SHORT: usize = 22;

impl Text {
    pub(crate) fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut short = [0; SHORT];
        match (u8::try_from(bytes.len()), short.get_mut(..bytes.len())) {
            (Ok(len), Some(target)) => {
                target.copy_from_slice(bytes);
                Self::Short(len, short)
            }
            _ => Self::Long(bytes.into()),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Short(len, bytes) => bytes.get(..usize::from(*len)).unwrap_or_default(),
            Self::Long(bytes) => bytes,
        }
    }

    fn heap(&self) -> usize {
        match self {
            Self::Short(..) => 0,
            Self::Long(bytes) => bytes.len() + ALLOCATION,
        }
    }
}

/// What an allocation costs beyond what was asked for, on average: the allocator's header and the
/// rounding. Measured against the resident size in the benchmark.
pub(crate) const ALLOCATION: usize = 12;

impl<V: Default> Interner<V> {
    pub(crate) fn new() -> Self {
        Self {
            hasher: DefaultHashBuilder::default(),
            table: HashTable::new(),
            entries: Vec::new(),
            free: Vec::new(),
            long_bytes: 0,
        }
    }

    pub(crate) fn lookup(&self, text: &str) -> Option<u32> {
        let hash = self.hasher.hash_one(text.as_bytes());
        self.table.find(hash, |&id| self.text(id) == text.as_bytes()).copied()
    }

    /// The id of a string, which is added if it is new.
    pub(crate) fn intern(&mut self, text: &str) -> u32 {
        let hash = self.hasher.hash_one(text.as_bytes());
        let Self { hasher, table, entries, free, long_bytes } = self;
        let found = table.find(hash, |&id| entries[id as usize].text.bytes() == text.as_bytes());
        if let Some(&id) = found {
            return id;
        }
        let entry = Entry { text: Text::new(text), value: V::default() };
        *long_bytes += entry.text.heap();
        let id = if let Some(id) = free.pop() {
            entries[id as usize] = entry;
            id
        } else {
            if entries.len() == entries.capacity() {
                entries.reserve_exact(entries.len() / 8 + 16);
            }
            entries.push(entry);
            last_id(entries.len())
        };
        table.insert_unique(hash, id, |&id| hasher.hash_one(entries[id as usize].text.bytes()));
        id
    }

    /// Forgets a string; its id may be given to another one.
    pub(crate) fn release(&mut self, id: u32) {
        let hash = self.hasher.hash_one(self.text(id));
        if let Ok(entry) = self.table.find_entry(hash, |&other| other == id) {
            entry.remove();
            let entry = &mut self.entries[id as usize];
            self.long_bytes -= entry.text.heap();
            *entry = Entry { text: Text::new(""), value: V::default() };
            self.free.push(id);
        }
    }

    pub(crate) fn get(&self, id: u32) -> &V {
        &self.entries[id as usize].value
    }

    pub(crate) fn get_mut(&mut self, id: u32) -> &mut V {
        &mut self.entries[id as usize].value
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    /// Heap bytes, without what the values themselves hold.
    pub(crate) fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry<V>>()
            + self.table.allocation_size()
            + self.free.capacity() * size_of::<u32>()
            + self.long_bytes
    }

    fn text(&self, id: u32) -> &[u8] {
        self.entries[id as usize].text.bytes()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "u32::MAX strings would need 200 GB first")]
fn last_id(len: usize) -> u32 {
    (len - 1) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_one_id_per_string_and_reuses_released_ones() {
        let mut interner = Interner::<u32>::new();
        let long = "a string that is too long to be kept inline";
        let (a, b) = (interner.intern("a"), interner.intern(long));
        assert_eq!(interner.intern("a"), a);
        assert_eq!(interner.lookup(long), Some(b));
        interner.release(a);
        assert_eq!(interner.lookup("a"), None);
        assert_eq!(interner.intern("c"), a);
        assert_eq!(interner.len(), 2);
        assert_eq!(size_of::<Text>(), 24);
    }
}
