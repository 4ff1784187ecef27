//! Whether two sentences say the same.

use std::collections::BTreeSet;

/// From here on two sentences share so many of their words that one restates the other.
const WORDS_MIN: f64 = 0.85;
/// From here on two sentences about the same entities mean the same, by their vectors.
pub(crate) const COSINE_MIN: f64 = 0.95;

const EMPTY: &[&str] =
    &["a", "an", "the", "is", "are", "was", "were", "be", "that", "and", "of", "to", "in", "for"];
const NEGATIONS: &[&str] =
    &["not", "no", "never", "longer", "dislikes", "hates", "without", "stopped"];

/// A sentence as it is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Likeness {
    normal: String,
    words: BTreeSet<String>,
    /// What turns its meaning around if it differs: negations, numbers and dates.
    pivots: BTreeSet<String>,
}

impl Likeness {
    pub(crate) fn of(text: &str) -> Self {
        let normal = normalised(text);
        let all = normal.split(' ').filter(|word| !word.is_empty());
        let is_pivot =
            |word: &&str| NEGATIONS.contains(word) || word.contains(|c: char| c.is_ascii_digit());
        let pivots = all.clone().filter(is_pivot).map(str::to_owned).collect();
        let words = all.filter(|word| !EMPTY.contains(word)).map(stem).collect();
        Self { normal, words, pivots }
    }

    /// Word for word, but for case and punctuation.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        self.normal == other.normal
    }

    /// Nearly so: nothing that turns the meaning around differs, and next to no word does.
    pub(crate) fn restates(&self, other: &Self) -> bool {
        if self.equals(other) {
            return true;
        }
        self.pivots == other.pivots && self.shared(other) >= WORDS_MIN
    }

    /// How much of the words of both is common to them, 0 to 1.
    pub(crate) fn shared(&self, other: &Self) -> f64 {
        let common = self.words.intersection(&other.words).count() as f64;
        common / self.words.union(&other.words).count().max(1) as f64
    }

    /// Whether vectors may be believed when they call the two the same.
    pub(crate) fn may_mean(&self, other: &Self) -> bool {
        self.pivots == other.pivots
    }
}

/// Lower case, words alone.
pub(super) fn normalised(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

fn stem(word: &str) -> String {
    let stem = word.strip_suffix('s').filter(|stem| stem.len() > 2 && !stem.ends_with('s'));
    stem.unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_the_same_is_told_from_what_does_not() {
        let restates = |a: &str, b: &str| Likeness::of(a).restates(&Likeness::of(b));
        assert!(restates("Ana lives in Lisbon.", "ana  lives in lisbon"));
        assert!(restates("The user likes green teas.", "The user likes the green tea."));
        assert!(!restates("Ana lives in Lisbon.", "Ana lives in Porto."));
        assert!(!restates("The user likes tea.", "The user does not like tea."));
        assert!(!restates("The budget is 400 euros.", "The budget is 500 euros."));
        assert!(!restates("Ana works for Acme.", "Ana lives in Lisbon."));
    }
}
