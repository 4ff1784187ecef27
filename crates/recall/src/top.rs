//! The best k of a stream of scored slots, with ties broken by key.

use crate::document::Key;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Scores are compared as u32; see [`rank`] for cosines.
pub(crate) struct Top<'a> {
    keys: &'a [Key],
    k: usize,
    heap: BinaryHeap<Reverse<(u32, Key)>>,
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
        let candidate = Reverse((score, self.keys[slot as usize]));
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
        self.heap.into_sorted_vec().into_iter().map(|Reverse(result)| result)
    }
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
        let mut none = Top::new(&keys, 0);
        none.offer(1, 1);
        assert_eq!(none.into_sorted().count(), 0);
    }
}
