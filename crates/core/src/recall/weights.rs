//! What each sign counts: the weights of both rankings, and of how sure an answer is. They stand
//! here and nowhere else.
//!
//! `mnemic bench fit` fits those of turns anew and prints them in this form. How they came about,
//! and what each feature is good for, is told in `docs/retrieval.md`.

use super::Feature;

/// Of turns: where words alone are looked at, with meaning, and with pieces too. 0 of what turns
/// do not have.
pub const fn of_turns(feature: Feature) -> [f64; 3] {
    match feature {
        Feature::Words | Feature::WordsAround | Feature::WordsWide => [0.9, 0.6, 0.2],
        Feature::Meaning | Feature::MeaningAround | Feature::Passage => [0.0, 1.0, 0.4],
        Feature::Pieces | Feature::PiecesAround | Feature::PiecesWide => [0.0, 0.0, 0.8],
        Feature::Speaker | Feature::SpokenDate => [0.5; 3],
        Feature::Date => [1.4; 3],
        Feature::TimeWord => [0.2, 0.4, 0.4],
        Feature::Answer => [0.4; 3],
        Feature::Name => [0.1; 3],
        Feature::Question => [-0.15; 3],
        Feature::Length => [0.05; 3],
        Feature::Statement => [0.6, 0.4, 0.2],
        Feature::Alike | Feature::Entities => [0.0; 3],
    }
}

/// Of memories; pieces count by how much they tell. What is told of an entity is a weaker sign than
/// what the query says: it lifts what is found otherwise, and what it brings along goes behind what
/// is found well. When it was recorded speaks for what is about as much to the point, and for no
/// more; what a model made up counts less than what is asked. 0 of what memories do not have.
pub(super) const fn of_memories(feature: Feature) -> f64 {
    match feature {
        Feature::Words | Feature::Meaning | Feature::Alike | Feature::Pieces | Feature::Passage => {
            2.0
        }
        Feature::Date | Feature::Statement => 1.0,
        Feature::Entities => 0.8,
        _ => 0.0,
    }
}

/// What speaks for the answer being in memory at all, and what must be outweighed.
pub(super) struct OfConfidence {
    /// By how much the one who is asked about outweighs the other of two.
    pub lead: f64,
    /// How near something is.
    pub likeness: f64,
    /// How much of the words is there.
    pub covered: f64,
    pub doubt: f64,
}

/// Where pieces are looked at, or nothing but meaning.
pub(super) const CONFIDENCE: OfConfidence =
    OfConfidence { lead: 5.8, likeness: 4.2, covered: 1.2, doubt: 3.0 };
/// Where words alone tell.
pub(super) const CONFIDENCE_BY_WORDS: OfConfidence =
    OfConfidence { lead: 7.8, likeness: 0.0, covered: 2.5, doubt: 1.5 };
/// The most that a lead counts, either way.
pub(super) const LEAD_MAX: f64 = 0.3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_counts_where_it_belongs() {
        for feature in Feature::ALL {
            let name = feature.as_str();
            let of_turns = of_turns(feature).iter().any(|weight| *weight != 0.0);
            let of_both = Feature::GUESSED.contains(&feature);
            assert_eq!(of_turns, of_both || Feature::OF_TURNS.contains(&feature), "{name}");
            let of_memories = of_memories(feature) != 0.0;
            assert_eq!(of_memories, of_both || Feature::OF_MEMORIES.contains(&feature), "{name}");
        }
    }
}
