//! Which documents have a term, and how often: the inverted lists.
//!
//! A list is sorted by slot and changed in place. Rare terms keep one packed u32 per document.
//! Common ones are cut into chunks of 2,048 slots with a u16 per document (11 bits of slot, 5 of
//! frequency): compact, and read during a search without any decoding. Each part carries a bound
//! on what it can add to a score, so that a search can leave it out.

use crate::bm25::{Saturation, TF_MAX};
use crate::interner::ALLOCATION;

const TF_BITS: u32 = 5;
const CHUNK_BITS: u32 = 11;
/// The slots of one chunk, and of one window of a search.
pub(crate) const CHUNK: usize = 1 << CHUNK_BITS;
/// The most documents an index can hold: a slot and a frequency share 32 bits.
pub(crate) const SLOTS_MAX: usize = 1 << (32 - TF_BITS);

/// A list becomes chunked when at least one document in this many has the term …
const DENSE_FROM: usize = 64;
/// … or when it has grown so long that moving its postings for a change would take long …
const SPARSE_MAX: usize = 8192;
/// … and sparse again when fewer than one in this many has it.
const SPARSE_FROM: usize = 512;

#[derive(Debug)]
pub(crate) enum List {
    /// Half of all words occur in one document only; they need no allocation.
    One(u32, Bound),
    Sparse(Vec<u32>, Bound),
    Dense(Box<Dense>),
}

#[derive(Debug, Default)]
pub(crate) struct Dense {
    pub(crate) chunks: Vec<Chunk>,
    count: usize,
    bytes: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) postings: Vec<u16>,
    pub(crate) bound: Bound,
}

/// The best that a set of postings can do: the shortest length for each frequency. Removals leave
/// it as it is, which keeps it a bound.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound {
    length_once: u8,
    length_twice: u8,
    length_more: u8,
    tf_max: u8,
}

impl Default for Bound {
    fn default() -> Self {
        Self { length_once: u8::MAX, length_twice: u8::MAX, length_more: u8::MAX, tf_max: 0 }
    }
}

impl Bound {
    fn widen(&mut self, tf: u32, length_code: u8) {
        let length = match tf {
            0 | 1 => &mut self.length_once,
            2 => &mut self.length_twice,
            _ => &mut self.length_more,
        };
        *length = (*length).min(length_code);
        self.tf_max = self.tf_max.max(u8::try_from(tf).unwrap_or(u8::MAX));
    }

    fn join(&mut self, other: Self) {
        self.length_once = self.length_once.min(other.length_once);
        self.length_twice = self.length_twice.min(other.length_twice);
        self.length_more = self.length_more.min(other.length_more);
        self.tf_max = self.tf_max.max(other.tf_max);
    }

    pub(crate) fn best(self, weight: u64, saturation: &Saturation) -> u32 {
        let mut best = saturation.apply(weight, 1, self.length_once);
        if self.tf_max > 1 {
            best = best.max(saturation.apply(weight, 2, self.length_twice));
        }
        if self.tf_max > 2 {
            best = best.max(saturation.apply(weight, u32::from(self.tf_max), self.length_more));
        }
        best
    }
}

impl Default for List {
    fn default() -> Self {
        Self::Sparse(Vec::new(), Bound::default())
    }
}

impl List {
    /// Adds a slot that is not in the list; `slots` is how many there are in all.
    pub(crate) fn insert(&mut self, slot: u32, tf: u32, length_code: u8, slots: usize) {
        let tf = tf.min(TF_MAX);
        let packed = slot << TF_BITS | tf;
        match self {
            Self::One(first, bound) => {
                let mut bound = *bound;
                bound.widen(tf, length_code);
                *self = Self::Sparse(vec![packed.min(*first), packed.max(*first)], bound);
            }
            Self::Sparse(list, _) if list.is_empty() => {
                let mut bound = Bound::default();
                bound.widen(tf, length_code);
                *self = Self::One(packed, bound);
            }
            Self::Sparse(list, bound) => {
                bound.widen(tf, length_code);
                insert_sorted(list, packed);
                let many = list.len() * DENSE_FROM >= slots || list.len() > SPARSE_MAX;
                if list.len() >= DENSE_FROM && many {
                    *self = Self::Dense(Box::new(Dense::from_sparse(list, *bound)));
                }
            }
            Self::Dense(dense) => {
                dense.insert(slot, tf, length_code);
                self.thin_out(slots);
            }
        }
    }

    /// Takes a slot out. Returns how often the term was in it.
    pub(crate) fn remove(&mut self, slot: u32, slots: usize) -> Option<u32> {
        match self {
            Self::One(packed, _) => {
                let tf = (*packed >> TF_BITS == slot).then_some(*packed & TF_MAX)?;
                *self = Self::default();
                Some(tf)
            }
            Self::Sparse(list, bound) => {
                let at = list.binary_search_by_key(&slot, |packed| packed >> TF_BITS).ok()?;
                let tf = list.remove(at) & TF_MAX;
                if let [last] = list[..] {
                    *self = Self::One(last, *bound);
                } else if list.capacity() > 4 * list.len() + 8 {
                    list.shrink_to_fit();
                }
                Some(tf)
            }
            Self::Dense(dense) => {
                let tf = dense.remove(slot)?;
                self.thin_out(slots);
                Some(tf)
            }
        }
    }

    pub(crate) fn contains(&self, slot: u32) -> bool {
        self.frequency(slot).is_some()
    }

    /// How often the term is in a slot, if it is.
    pub(crate) fn frequency(&self, slot: u32) -> Option<u32> {
        match self {
            Self::One(packed, _) => (*packed >> TF_BITS == slot).then_some(*packed & TF_MAX),
            Self::Sparse(list, _) => {
                let at = list.binary_search_by_key(&slot, |packed| packed >> TF_BITS).ok()?;
                Some(list[at] & TF_MAX)
            }
            Self::Dense(dense) => {
                let chunk = dense.chunks.get(slot as usize / CHUNK)?;
                Some(frequency(chunk.postings[chunk.find(slot as usize % CHUNK)?]))
            }
        }
    }

    /// How many documents have the term.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::One(..) => 1,
            Self::Sparse(list, _) => list.len(),
            Self::Dense(dense) => dense.count,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::One(..) => 0,
            Self::Sparse(list, _) if list.capacity() == 0 => 0,
            Self::Sparse(list, _) => list.capacity() * 4 + ALLOCATION,
            Self::Dense(dense) => {
                dense.bytes
                    + dense.chunks.capacity() * size_of::<Chunk>()
                    + size_of::<Dense>()
                    + 2 * ALLOCATION
            }
        }
    }

    fn thin_out(&mut self, slots: usize) {
        let Self::Dense(dense) = self else { return };
        let few = dense.count * SPARSE_FROM < slots && dense.count < SPARSE_MAX / 2;
        if dense.count < DENSE_FROM / 2 || few {
            *self = dense.to_sparse();
        }
    }
}

impl Dense {
    fn from_sparse(list: &[u32], bound: Bound) -> Self {
        let mut dense = Self::default();
        for &packed in list {
            let chunk = dense.chunk(packed >> TF_BITS);
            // The lengths are not known here, so each chunk starts from the bound of the whole.
            chunk.bound = bound;
            chunk.push((packed >> TF_BITS) as usize % CHUNK, packed & TF_MAX);
        }
        dense.count = list.len();
        dense.bytes = dense.chunks.iter().map(Chunk::bytes).sum();
        dense
    }

    fn to_sparse(&self) -> List {
        let mut list = Vec::with_capacity(self.count);
        let mut bound = Bound::default();
        for (base, chunk) in (0..).step_by(CHUNK).zip(&self.chunks) {
            let slots = chunk
                .postings
                .iter()
                .map(|&posting| (base + offset(posting)) << TF_BITS | frequency(posting));
            list.extend(slots);
            if !chunk.postings.is_empty() {
                bound.join(chunk.bound);
            }
        }
        match list[..] {
            [only] => List::One(only, bound),
            _ => List::Sparse(list, bound),
        }
    }

    fn insert(&mut self, slot: u32, tf: u32, length_code: u8) {
        let chunk = self.chunk(slot);
        let before = chunk.bytes();
        chunk.bound.widen(tf, length_code);
        chunk.push(slot as usize % CHUNK, tf);
        let after = chunk.bytes();
        self.count += 1;
        self.bytes = self.bytes + after - before;
    }

    fn remove(&mut self, slot: u32) -> Option<u32> {
        let chunk = self.chunks.get_mut(slot as usize / CHUNK)?;
        let at = chunk.find(slot as usize % CHUNK)?;
        let before = chunk.bytes();
        let tf = frequency(chunk.postings.remove(at));
        if chunk.postings.is_empty() {
            *chunk = Chunk::default();
        } else if chunk.postings.capacity() > 4 * chunk.postings.len() + 8 {
            chunk.postings.shrink_to_fit();
        }
        self.bytes = self.bytes + chunk.bytes() - before;
        self.count -= 1;
        Some(tf)
    }

    fn chunk(&mut self, slot: u32) -> &mut Chunk {
        let index = slot as usize / CHUNK;
        if index >= self.chunks.len() {
            if index >= self.chunks.capacity() {
                self.chunks.reserve_exact(index + index / 8 + 1 - self.chunks.len());
            }
            self.chunks.resize_with(index + 1, Chunk::default);
        }
        &mut self.chunks[index]
    }
}

impl Chunk {
    fn push(&mut self, offset: usize, tf: u32) {
        let packed = u16::try_from(offset << TF_BITS | tf as usize).unwrap_or(u16::MAX);
        insert_sorted(&mut self.postings, packed);
    }

    pub(crate) fn find(&self, offset: usize) -> Option<usize> {
        let target = u16::try_from(offset).ok()?;
        self.postings.binary_search_by_key(&target, |posting| posting >> TF_BITS).ok()
    }

    fn bytes(&self) -> usize {
        match self.postings.capacity() {
            0 => 0,
            capacity => capacity * 2 + ALLOCATION,
        }
    }
}

/// The slot of a chunk's posting, counted from the chunk's first.
#[inline]
pub(crate) fn offset(posting: u16) -> u32 {
    u32::from(posting >> TF_BITS)
}

#[inline]
pub(crate) fn frequency(posting: u16) -> u32 {
    u32::from(posting) & TF_MAX
}

/// The slot and the frequency of a sparse list's posting.
#[inline]
pub(crate) fn unpack(packed: u32) -> (u32, u32) {
    (packed >> TF_BITS, packed & TF_MAX)
}

fn insert_sorted<T: Copy + Ord>(list: &mut Vec<T>, value: T) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 4 + 2);
    }
    if list.last().is_none_or(|&last| last < value) {
        list.push(value);
    } else {
        let at = list.partition_point(|&other| other < value);
        list.insert(at, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn entries(list: &List) -> BTreeMap<u32, u32> {
        match list {
            List::One(packed, _) => [unpack(*packed)].into(),
            List::Sparse(list, _) => list.iter().map(|&packed| unpack(packed)).collect(),
            List::Dense(dense) => match dense.to_sparse() {
                List::Sparse(list, _) => list.iter().map(|&packed| unpack(packed)).collect(),
                other => entries(&other),
            },
        }
    }

    #[test]
    fn equals_a_plain_map_through_all_shapes() {
        let mut list = List::default();
        let mut plain = BTreeMap::new();
        let mut state = 3_u32;
        let mut shapes = [false; 3];
        for step in 0..60_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (slot, tf) = ((state >> 8) % 9000, state >> 4 & 63);
            let grow = (state >> 24) % 10 < if step < 30_000 { 8 } else { 1 };
            if grow && !plain.contains_key(&slot) {
                list.insert(slot, tf, 9, 9000);
                plain.insert(slot, tf.min(TF_MAX));
            } else {
                assert_eq!(list.remove(slot, 9000), plain.remove(&slot));
            }
            assert_eq!(list.len(), plain.len());
            shapes[match list {
                List::One(..) => 0,
                List::Sparse(..) => 1,
                List::Dense(_) => 2,
            }] = true;
            if step % 3000 == 0 {
                assert_eq!(entries(&list), plain);
                assert!((0..9000).all(|slot| list.contains(slot) == plain.contains_key(&slot)));
            }
        }
        for slot in 0..9000 {
            assert_eq!(list.remove(slot, 9000), plain.remove(&slot));
        }
        assert_eq!((list.len(), list.bytes()), (0, 0));
        assert_eq!(shapes, [true; 3]);
    }
}
