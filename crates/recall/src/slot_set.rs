//! The slots that carry one tag: a sorted list while few do, a bit set once many do.

use crate::bits;
use crate::interner::ALLOCATION;

#[derive(Debug)]
pub(crate) enum SlotSet {
    Sparse(Vec<u32>),
    Dense { words: Vec<u64>, count: usize },
}

impl Default for SlotSet {
    fn default() -> Self {
        Self::Sparse(Vec::new())
    }
}

/// A bit set costs as much as a list when one slot in 32 is in it.
const DENSE_FROM: usize = 32;
/// Far enough below the other limit that a set does not flip back and forth.
const SPARSE_FROM: usize = 128;

impl SlotSet {
    /// Adds a slot; `slots` is how many there are in all.
    pub(crate) fn insert(&mut self, slot: u32, slots: usize) {
        match self {
            Self::Sparse(list) => {
                if list.last().is_none_or(|&last| last < slot) {
                    list.push(slot);
                } else if let Err(at) = list.binary_search(&slot) {
                    list.insert(at, slot);
                }
                if list.len() >= 64 && list.len() * DENSE_FROM >= slots {
                    let mut words = vec![0; bits::words_for(slots)];
                    for &slot in list.iter() {
                        bits::set(&mut words, slot);
                    }
                    *self = Self::Dense { words, count: list.len() };
                }
            }
            Self::Dense { words, count } => {
                *count += usize::from(bits::set(words, slot));
                self.thin_out(slots);
            }
        }
    }

    pub(crate) fn remove(&mut self, slot: u32, slots: usize) {
        match self {
            Self::Sparse(list) => {
                if let Ok(at) = list.binary_search(&slot) {
                    list.remove(at);
                }
                if list.capacity() > 4 * list.len() + 8 {
                    list.shrink_to_fit();
                }
            }
            Self::Dense { words, count } => {
                *count -= usize::from(bits::clear(words, slot));
                self.thin_out(slots);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Sparse(list) => list.is_empty(),
            Self::Dense { count, .. } => *count == 0,
        }
    }

    /// Adds this set to `target`.
    pub(crate) fn union_into(&self, target: &mut [u64]) {
        match self {
            Self::Sparse(list) => {
                for &slot in list {
                    target[slot as usize / 64] |= 1 << (slot % 64);
                }
            }
            Self::Dense { words, .. } => {
                target.iter_mut().zip(words).for_each(|(target, word)| *target |= word);
            }
        }
    }

    /// Takes this set out of `target`.
    pub(crate) fn subtract_from(&self, target: &mut [u64]) {
        match self {
            Self::Sparse(list) => {
                for &slot in list {
                    bits::clear(target, slot);
                }
            }
            Self::Dense { words, .. } => {
                target.iter_mut().zip(words).for_each(|(target, word)| *target &= !word);
            }
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Sparse(list) if list.capacity() == 0 => 0,
            Self::Sparse(list) => list.capacity() * 4 + ALLOCATION,
            Self::Dense { words, .. } => words.capacity() * 8 + ALLOCATION,
        }
    }

    fn thin_out(&mut self, slots: usize) {
        let Self::Dense { words, count } = self else { return };
        if *count < 32 || *count * SPARSE_FROM < slots {
            let mut list = Vec::with_capacity(*count);
            for (base, &word) in (0..).step_by(64).zip(words.iter()) {
                list.extend(bits::positions(word).map(|bit| base + bit));
            }
            *self = Self::Sparse(list);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn equals_a_plain_set_through_both_shapes() {
        let mut set = SlotSet::default();
        let mut plain = BTreeSet::new();
        let mut state = 7_u32;
        for step in 0..40_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let slot = (state >> 8) % 4000;
            // First mostly additions, then mostly removals.
            if (state >> 3) % 10 < if step < 20_000 { 8 } else { 1 } {
                set.insert(slot, 4000);
                plain.insert(slot);
            } else {
                set.remove(slot, 4000);
                plain.remove(&slot);
            }
            if step % 1000 == 0 {
                let mut words = vec![0; bits::words_for(4000)];
                set.union_into(&mut words);
                let found: BTreeSet<u32> =
                    (0..4000).filter(|&slot| bits::get(&words, slot)).collect();
                assert_eq!(found, plain);
                assert_eq!(set.is_empty(), plain.is_empty());
                set.subtract_from(&mut words);
                assert_eq!(bits::count(&words), 0);
            }
        }
    }
}
