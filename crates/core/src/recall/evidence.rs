//! What a store knows of a query's words in single items, for those who weigh items, alone or
//! together with what stands around them.

/// How soon repeating a word stops helping, and how much long texts are held back.
const K1: f64 = 0.9;
const B: f64 = 0.4;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct WordEvidence {
    /// How many items of the kind there are.
    pub documents: u64,
    /// How many words they have on average.
    pub average_length: f64,
    /// How often the query asks for each of its words.
    pub asked: Vec<u32>,
    /// In how many of them each word of the query is.
    pub held_by: Vec<u64>,
    /// Of each item that was asked for, in that order.
    pub items: Occurrences,
}

/// How often items have each word of the query, and how long they are. In two lists for all of them:
/// hundreds are looked at for each question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Occurrences {
    words: usize,
    counts: Vec<u32>,
    lengths: Vec<u32>,
}

/// The same of one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held<'a> {
    pub counts: &'a [u32],
    pub length: u32,
}

impl Occurrences {
    /// The counts are those of all words in the first item, then of those in the next.
    pub fn new(words: usize, counts: Vec<u32>, lengths: Vec<u32>) -> Self {
        debug_assert_eq!(counts.len(), words * lengths.len());
        Self { words, counts, lengths }
    }

    pub fn get(&self, item: usize) -> Option<Held<'_>> {
        let length = *self.lengths.get(item)?;
        let counts = self.counts.get(item * self.words..(item + 1) * self.words)?;
        Some(Held { counts, length })
    }

    pub fn iter(&self) -> impl Iterator<Item = Held<'_>> {
        (0..self.lengths.len()).filter_map(|item| self.get(item))
    }
}

/// BM25 as a share of what a text would get that has nothing but the query's words.
pub(super) struct Shares<'a> {
    pub evidence: &'a WordEvidence,
    /// How much each word counts; what nothing has says nothing.
    pub weights: Vec<f64>,
    /// What a text with all of them gets at most.
    best: f64,
}

impl<'a> Shares<'a> {
    pub(super) fn new(evidence: &'a WordEvidence) -> Self {
        let there = |(weight, held_by): (f64, &u64)| if *held_by == 0 { 0.0 } else { weight };
        let weights: Vec<_> = rarities(evidence).zip(&evidence.held_by).map(there).collect();
        let best = ((1.0 + K1) * weights.iter().sum::<f64>()).max(f64::MIN_POSITIVE);
        Self { evidence, weights, best }
    }

    /// Of one item by itself.
    pub(super) fn of(&self, held: Held<'_>) -> f64 {
        let counts = held.counts.iter().map(|count| f64::from(*count));
        self.share(counts, f64::from(held.length) / self.usual_length())
    }

    /// Of a text with these counts that is so many times as long as others.
    pub(super) fn share(&self, counts: impl Iterator<Item = f64>, relative_length: f64) -> f64 {
        let norm = K1 * (1.0 - B + B * relative_length);
        let score = |(count, weight): (f64, &f64)| weight * count * (K1 + 1.0) / (count + norm);
        counts.zip(&self.weights).map(score).sum::<f64>() / self.best
    }

    pub(super) fn usual_length(&self) -> f64 {
        self.evidence.average_length.max(1.0)
    }

    /// How much of the query's words stands in at least one of these items. What nothing has counts
    /// here as the rarest: that it was never said is what this is to tell.
    pub(super) fn covered(&self, items: &[Held<'_>]) -> f64 {
        let has = |place: usize| {
            items.iter().any(|held| held.counts.get(place).is_some_and(|count| *count > 0))
        };
        let (mut held, mut all) = (0.0, f64::MIN_POSITIVE);
        for (place, weight) in rarities(self.evidence).enumerate() {
            all += weight;
            held += if has(place) { weight } else { 0.0 };
        }
        held / all
    }
}

/// How rare each word is, as often as it is asked for.
fn rarities(evidence: &WordEvidence) -> impl Iterator<Item = f64> {
    let all = evidence.documents as f64;
    let asked = evidence.asked.iter().copied().chain(std::iter::repeat(1));
    evidence.held_by.iter().zip(asked).map(move |(held_by, asked)| {
        let held_by = *held_by as f64;
        f64::from(asked) * ((all - held_by + 0.5).max(0.0) / (held_by + 0.5)).ln_1p()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(asked: &[u32], counts: &[&[u32]]) -> WordEvidence {
        WordEvidence {
            documents: 100,
            average_length: 4.0,
            asked: asked.to_vec(),
            held_by: vec![2, 2, 0],
            items: Occurrences::new(asked.len(), counts.concat(), vec![4; counts.len()]),
        }
    }

    #[test]
    fn what_is_asked_twice_counts_twice() {
        let once = evidence(&[1, 1, 1], &[&[1, 0, 0], &[0, 1, 0]]);
        let twice = evidence(&[2, 1, 1], &[&[1, 0, 0], &[0, 1, 0]]);
        let shares = |evidence: &WordEvidence| {
            let shares = Shares::new(evidence);
            evidence.items.iter().map(|held| shares.of(held)).collect::<Vec<_>>()
        };
        let (once, twice) = (shares(&once), shares(&twice));
        assert!((once[0] - once[1]).abs() < 1e-9, "{once:?}");
        assert!((twice[0] - 2.0 * twice[1]).abs() < 1e-9, "{twice:?}");
    }

    #[test]
    fn words_are_covered_by_any_of_several_items() {
        let found = evidence(&[1, 1, 1], &[&[1, 0, 0], &[0, 3, 0], &[0, 0, 0]]);
        let shares = Shares::new(&found);
        let items: Vec<_> = found.items.iter().collect();
        let (one, two) = (shares.covered(&items[..1]), shares.covered(&items));
        assert!((two - 2.0 * one).abs() < 1e-9 && two < 0.7, "one word was never said: {two}");
        let known = WordEvidence { held_by: vec![2, 2], ..found.clone() };
        assert!((Shares::new(&known).covered(&items) - 1.0).abs() < 1e-9);
        assert!(shares.covered(&items[2..]) < 1e-9);
    }
}
