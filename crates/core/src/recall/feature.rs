//! The names of what turns and memories are weighed by. What each counts stands in `weights`.

use std::str::FromStr;

use crate::error::{Error, Result};
use crate::ids::shorten;

/// What speaks for a turn or a memory, or against it. What stands around it and who said it is
/// asked of turns alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// The question's words in the text itself.
    Words,
    /// In the turn and two on each side.
    WordsAround,
    /// In the turn and six on each side.
    WordsWide,
    /// How near it is in meaning.
    Meaning,
    /// The same, with its neighbours mixed in.
    MeaningAround,
    /// How near the pieces of the question come to those of the text.
    Pieces,
    /// To those of the turn and two on each side.
    PiecesAround,
    /// To those of the turn and six on each side.
    PiecesWide,
    /// Said by the one whom the question names.
    Speaker,
    /// Said, or of a memory recorded or become true, when the question says.
    Date,
    /// Tells of the time that the question names.
    SpokenDate,
    /// Says when something was, and that is asked for.
    TimeWord,
    /// Comes behind a question that has the words.
    Answer,
    /// Names something.
    Name,
    /// Asks itself.
    Question,
    /// Says more.
    Length,
    /// Of a memory: how much nearer it is to a question that has moved towards the best that were
    /// found.
    Alike,
    /// Of a memory: how surely the entities of the question lead to it.
    Entities,
    /// Has the words of the statement that a model made of the question.
    Statement,
    /// How much nearer it is to the question with the passage mixed in that a model made up.
    Passage,
}

impl Feature {
    pub const ALL: [Self; 20] = [
        Self::Words,
        Self::WordsAround,
        Self::WordsWide,
        Self::Meaning,
        Self::MeaningAround,
        Self::Pieces,
        Self::PiecesAround,
        Self::PiecesWide,
        Self::Speaker,
        Self::Date,
        Self::SpokenDate,
        Self::TimeWord,
        Self::Answer,
        Self::Name,
        Self::Question,
        Self::Length,
        Self::Alike,
        Self::Entities,
        Self::Statement,
        Self::Passage,
    ];
    /// Those of what a model guessed; where one did, they come to those of turns and of memories.
    pub const GUESSED: [Self; 2] = [Self::Statement, Self::Passage];
    /// Those that turns are weighed by.
    pub const OF_TURNS: &[Self] = Self::ALL.split_at(16).0;
    /// Those that memories are weighed by.
    pub const OF_MEMORIES: [Self; 6] =
        [Self::Words, Self::Meaning, Self::Alike, Self::Pieces, Self::Entities, Self::Date];

    /// Of a turn: whether it is evidence of what is asked, and not only of where to look.
    pub const fn is_evidence(self) -> bool {
        matches!(
            self,
            Self::Words
                | Self::WordsAround
                | Self::WordsWide
                | Self::Meaning
                | Self::MeaningAround
                | Self::Pieces
                | Self::PiecesAround
                | Self::PiecesWide
        )
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::WordsAround => "words_around",
            Self::WordsWide => "words_wide",
            Self::Meaning => "meaning",
            Self::MeaningAround => "meaning_around",
            Self::Pieces => "pieces",
            Self::PiecesAround => "pieces_around",
            Self::PiecesWide => "pieces_wide",
            Self::Speaker => "speaker",
            Self::Date => "date",
            Self::SpokenDate => "spoken_date",
            Self::TimeWord => "time_word",
            Self::Answer => "answer",
            Self::Name => "name",
            Self::Question => "question",
            Self::Length => "length",
            Self::Alike => "alike",
            Self::Entities => "entities",
            Self::Statement => "statement",
            Self::Passage => "passage",
        }
    }
}

/// A number for each feature: what it says of one item, what it counts, or what it adds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct PerFeature([f64; Feature::ALL.len()]);

impl PerFeature {
    pub(super) fn new(number: impl Fn(Feature) -> f64) -> Self {
        Self(Feature::ALL.map(number))
    }

    pub(super) fn get(&self, feature: Feature) -> f64 {
        self.0[feature as usize]
    }

    pub(super) fn set(&mut self, feature: Feature, number: f64) {
        self.0[feature as usize] = number;
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        let mut product = *self;
        product.0.iter_mut().zip(other.0).for_each(|(own, other)| *own *= other);
        product
    }

    pub(super) fn sum(&self) -> f64 {
        self.0.iter().sum()
    }

    /// Those that are not 0.
    pub(super) fn told(&self) -> Vec<(Feature, f64)> {
        Feature::ALL.into_iter().zip(self.0).filter(|it| it.1 != 0.0).collect()
    }
}

impl FromStr for Feature {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|feature| feature.as_str() == name).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.into_iter().map(Self::as_str).collect();
            let problem = format!("`{}` is not one of {}", shorten(name), names.join(", "));
            Error::invalid("feature", problem)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_known_by_their_names() {
        for (place, feature) in Feature::ALL.into_iter().enumerate() {
            assert_eq!(feature.as_str().parse::<Feature>().unwrap(), feature);
            assert_eq!(feature as usize, place, "numbers are kept by this");
        }
        let error = "speakers".parse::<Feature>().unwrap_err().to_string();
        assert!(error.starts_with("feature: `speakers` is not one of words, "), "{error}");
    }

    #[test]
    fn what_turns_are_weighed_by_ends_before_what_only_memories_have() {
        assert_eq!(Feature::OF_TURNS.last(), Some(&Feature::Length));
    }
}
