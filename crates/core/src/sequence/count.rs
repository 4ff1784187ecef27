//! The counts that patterns are mined of: differences, gathered for one commit.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{Key, Sequence, day_of};
use crate::store::Change;

type Pair = (String, String);

#[derive(Debug, Default)]
pub(super) struct Counts {
    keys: BTreeMap<(Key, i64), (i64, Timestamp)>,
    pairs: BTreeMap<(Pair, i64), i64>,
}

impl Counts {
    /// Counts a sequence that is closed, by the day of its last action. Returns the day.
    pub(super) fn add(&mut self, sequence: &Sequence, keys: &[Key]) -> i64 {
        let day = day_of(sequence.last_at);
        self.count(sequence, keys, day, 1);
        day
    }

    /// Takes back what a sequence was counted for, if it was.
    pub(super) fn remove(&mut self, sequence: &Sequence, keys: &[Key]) {
        if let Some(day) = sequence.counted_day {
            self.count(sequence, keys, day, -1);
        }
    }

    fn count(&mut self, sequence: &Sequence, keys: &[Key], day: i64, difference: i64) {
        let mut pairs = BTreeSet::new();
        for key in keys {
            let last_at = sequence.last_at;
            let entry = self.keys.entry((key.clone(), day)).or_insert((0, last_at));
            *entry = (entry.0 + difference, entry.1.max(last_at));
            pairs.insert((key.action_type.clone(), key.node_type.clone()));
        }
        for pair in pairs {
            *self.pairs.entry((pair, day)).or_default() += difference;
        }
    }

    /// The changes that apply them, and that say whose counts are others now.
    pub(super) fn changes(self) -> impl Iterator<Item = Change> {
        let touched: BTreeSet<_> = self.pairs.keys().map(|(pair, _)| pair.clone()).collect();
        let keys = self.keys.into_iter().map(|((key, day), (difference, last_at))| {
            Change::CountKey { key, day, difference, last_at }
        });
        let pairs = self.pairs.into_iter().map(|((pair, day), difference)| {
            let (action_type, node_type) = pair;
            Change::CountPair { action_type, node_type, day, difference }
        });
        let touched = touched
            .into_iter()
            .map(|(action_type, node_type)| Change::TouchUnmined { action_type, node_type });
        keys.chain(pairs).chain(touched)
    }
}
