//! The best k of a stream of scored slots, with ties broken by key.

use crate::document::Key;
use std::cmp::Ordering;

/// Scores are compared as u32; see [`rank`] for cosines.
///
/// What may be among the best is put down as it comes, and cut down to the best once there are twice as
/// many: that costs less than to keep it in order.
pub(crate) struct Top<'a> {
    keys: &'a [Key],
    k: usize,
    scored: Vec<(u32, u32)>,
    threshold: u32,
}

impl<'a> Top<'a> {
    pub(crate) fn new(keys: &'a [Key], k: usize) -> Self {
        let k = k.min(keys.len());
        Self { keys, k, scored: Vec::with_capacity(2 * k), threshold: 0 }
    }

    /// What is scored less is not among the best; 0 until there are enough. Equal scores still can be: the
    /// key decides.
    #[inline]
    pub(crate) fn threshold(&self) -> u32 {
        self.threshold
    }

    #[inline]
    pub(crate) fn offer(&mut self, score: u32, slot: u32) {
        if score < self.threshold {
            return;
        }
        if self.scored.len() >= 2 * self.k {
            self.cut();
        }
        self.scored.push((score, slot));
    }

    #[inline(never)]
    fn cut(&mut self) {
        let keys = self.keys;
        let Some(last) = self.k.checked_sub(1) else { return self.scored.clear() };
        if last < self.scored.len() {
            let order = |a: &_, b: &_| order(keys, *a, *b);
            let (_, worst, _) = self.scored.select_nth_unstable_by(last, order);
            self.threshold = worst.0;
            self.scored.truncate(self.k);
        }
    }

    /// The results, best first.
    pub(crate) fn into_sorted(mut self) -> impl Iterator<Item = (u32, Key)> {
        self.cut();
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
        let mut none = Top::new(&keys, 0);
        none.offer(1, 1);
        assert_eq!(none.into_sorted().count(), 0);
    }

    #[test]
    fn what_is_cut_off_sets_the_threshold() {
        let keys: Vec<Key> = (0..40).map(|n| [n; 16]).collect();
        let mut top = Top::new(&keys, 4);
        assert_eq!(top.threshold(), 0);
        (0..40).for_each(|slot| top.offer(slot / 2, slot));
        assert!((10..=18).contains(&top.threshold()), "{}", top.threshold());
        let found: Vec<_> = top.into_sorted().map(|(score, key)| (score, key[0])).collect();
        assert_eq!(found, [(19, 39), (19, 38), (18, 37), (18, 36)]);
    }
}
