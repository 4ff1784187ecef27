//! The best k of a stream of scored slots, with ties broken by key.

use crate::document::Key;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Scores are compared as u32; see [`rank`] for cosines.
pub(crate) struct Top<'a> {
    keys: &'a [Key],
    k: usize,
    /// Keys as numbers, which are compared sooner than bytes and have the same order.
    heap: BinaryHeap<Reverse<(u32, u128)>>,
}

impl<'a> Top<'a> {
    pub(crate) fn new(keys: &'a [Key], k: usize) -> Self {
        let k = k.min(keys.len());
        Self { keys, k, heap: BinaryHeap::with_capacity(k) }
    }

    /// The score that a slot must reach to matter. Equal scores still do: the key decides.
    #[inline]
    pub(crate) fn threshold(&self) -> u32 {
        match self.heap.peek() {
            Some(Reverse((score, _))) if self.heap.len() == self.k => *score,
            _ => 0,
        }
    }

    pub(crate) fn offer(&mut self, score: u32, slot: u32) {
        if self.k == 0 || score < self.threshold() {
            return;
        }
        let candidate = Reverse((score, u128::from_be_bytes(self.keys[slot as usize])));
        if self.heap.len() < self.k {
            self.heap.push(candidate);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && candidate < *worst
        {
            *worst = candidate;
        }
    }

    /// The results, best first.
    pub(crate) fn into_sorted(self) -> impl Iterator<Item = (u32, Key)> {
        let sorted = self.heap.into_sorted_vec().into_iter();
        sorted.map(|Reverse((score, key))| (score, key.to_be_bytes()))
    }
}

/// The same of what comes in batches, where nothing asks for a threshold meanwhile.
pub(crate) struct Best<'a> {
    keys: &'a [Key],
    k: usize,
    scored: Vec<(u32, u32)>,
    /// What is scored less is not among them; 0 until there are enough.
    threshold: u32,
}

impl<'a> Best<'a> {
    pub(crate) fn new(keys: &'a [Key], k: usize) -> Self {
        Self { keys, k: k.min(keys.len()), scored: Vec::new(), threshold: 0 }
    }

    pub(crate) fn extend(&mut self, scored: impl Iterator<Item = (u32, u32)>) {
        let threshold = self.threshold;
        self.scored.extend(scored.filter(|(score, _)| *score >= threshold));
        if self.scored.len() > self.k {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let keys = self.keys;
        let Some(last) = self.k.checked_sub(1) else { return self.scored.clear() };
        let (_, worst, _) = self.scored.select_nth_unstable_by(last, |a, b| order(keys, *a, *b));
        self.threshold = worst.0;
        self.scored.truncate(self.k);
    }

    /// The results, best first.
    pub(crate) fn into_sorted(mut self) -> impl Iterator<Item = (u32, Key)> {
        let keys = self.keys;
        self.scored.sort_unstable_by(|a, b| order(keys, *a, *b));
        self.scored.into_iter().map(|(score, slot)| (score, keys[slot as usize]))
    }
}

/// The better first; of equal ones, that of the greater key.
fn order(keys: &[Key], a: (u32, u32), b: (u32, u32)) -> Ordering {
    b.0.cmp(&a.0).then_with(|| keys[b.1 as usize].cmp(&keys[a.1 as usize]))
}

/// Maps floats to integers of the same order.
pub(crate) fn rank(score: f32) -> u32 {
    let bits = score.to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

/// The float of a rank.
pub(crate) fn unrank(rank: u32) -> f32 {
    f32::from_bits(if rank >> 31 == 1 { rank & !(1 << 31) } else { !rank })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_keep_order_and_return() {
        let scores = [-1.0, -0.25, -0.0, 0.0, 1e-9, 0.5, 1.0];
        assert!(scores.map(rank).is_sorted());
        assert!(scores.iter().all(|&s| unrank(rank(s)).to_bits() == s.to_bits()));
    }

    #[test]
    fn keeps_the_best_and_breaks_ties_by_greater_key() {
        let keys: Vec<Key> = (0..10).map(|n| [n; 16]).collect();
        let mut top = Top::new(&keys, 3);
        for (score, slot) in [(5, 1), (7, 2), (5, 9), (5, 3), (1, 8)] {
            top.offer(score, slot);
        }
        let found: Vec<_> = top.into_sorted().collect();
        assert_eq!(found, [(7, [2; 16]), (5, [9; 16]), (5, [3; 16])]);
        let mut best = Best::new(&keys, 3);
        best.extend([(5, 1), (7, 2), (5, 9)].into_iter());
        best.extend([(5, 3), (1, 8)].into_iter());
        assert!(best.into_sorted().eq(found));
        let (mut none, mut nothing) = (Top::new(&keys, 0), Best::new(&keys, 0));
        none.offer(1, 1);
        nothing.extend([(1, 1)].into_iter());
        assert_eq!(none.into_sorted().count() + nothing.into_sorted().count(), 0);
    }
}
