//! How sure a speaker is of what they say.

use serde::{Deserialize, Serialize};

use super::sentence::Word;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// Said in so many words.
    Explicit,
    /// Not said, but meant.
    Implied,
    /// Concluded.
    Inferred,
    /// Said with a hedge.
    Uncertain,
}

impl Certainty {
    pub const fn confidence(self) -> f64 {
        match self {
            Self::Explicit => 0.95,
            Self::Implied => 0.85,
            Self::Inferred => 0.70,
            Self::Uncertain => 0.50,
        }
    }
}

/// Phrases that take the edge off a statement, longest first.
const HEDGES: &[&[&str]] = &[
    &["if", "i", "remember", "correctly"],
    &["i", "am", "not", "sure", "but"],
    &["i", "am", "fairly", "sure"],
    &["i", "am", "pretty", "sure"],
    &["i", "think", "that"],
    &["i", "guess", "that"],
    &["i", "believe", "that"],
    &["not", "sure", "but"],
    &["i", "think"],
    &["i", "guess"],
    &["i", "believe"],
    &["i", "suppose"],
    &["i", "reckon"],
    &["kind", "of"],
    &["sort", "of"],
    &["it", "seems"],
    &["maybe"],
    &["perhaps"],
    &["probably"],
    &["possibly"],
    &["apparently"],
    &["presumably"],
    &["might"],
];

/// Takes hedges out of a clause; whether there were any.
pub(super) fn unhedge(words: &mut Vec<Word>) -> bool {
    let mut hedged = false;
    for hedge in HEDGES {
        let place = words
            .windows(hedge.len())
            .position(|window| window.iter().zip(*hedge).all(|(word, hedge)| word.lower == *hedge));
        if let Some(place) = place {
            words.drain(place..place + hedge.len());
            hedged = true;
        }
    }
    hedged
}
