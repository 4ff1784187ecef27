//! What a turn is worth to a question: its words and those around it, its meaning, who said it
//! and when.
//!
//! A turn is short and answers what was asked before it, so its own words say little. What is
//! looked for is therefore counted in the turn, in those next to it and in a wide window, each as a
//! share of what a text with all of the question would get: then the weights mean the same whatever
//! is asked and however much is stored.

use std::sync::Arc;

use super::clue::Clue;
use super::spoken::Spoken;
use super::window::{Place, REACH, WIDE, Window, likeness, mixed, places, words_within};
use crate::recall::evidence::Shares;
use crate::recall::further::Guessed;
use crate::recall::piece::{self, LIKENESS_OF_ANY};
use crate::recall::{Feature, WordEvidence, weights};
use crate::store::PieceLikeness;

/// What each feature counts in one ranking.
#[derive(Debug, Clone, Copy)]
struct Weights<'a> {
    without: &'a [Feature],
    meaning: bool,
    /// How much pieces tell, 0 to 1.
    telling: f64,
}

impl<'a> Weights<'a> {
    fn new(candidates: &Candidates<'a>) -> Self {
        let telling = piece::telling(candidates.pieces.unwrap_or_default());
        Self { without: candidates.without, meaning: candidates.cosines.is_some(), telling }
    }

    fn of(self, feature: Feature) -> f64 {
        if self.without.contains(&feature) {
            return 0.0;
        }
        let [by_words, with_meaning, with_pieces] = weights::of_turns(feature);
        let without = if self.meaning { with_meaning } else { by_words };
        self.telling * with_pieces + (1.0 - self.telling) * without
    }
}

/// The turns that may answer, by conversation and index, and what is known of each.
#[derive(Clone, Copy)]
pub(super) struct Candidates<'a> {
    pub turns: &'a [Arc<Spoken>],
    pub words: Option<&'a WordEvidence>,
    pub cosines: Option<&'a [Option<f32>]>,
    /// How near the question's pieces come to each; nothing for those not looked at.
    pub pieces: Option<&'a [Option<PieceLikeness>]>,
    /// What is switched off.
    pub without: &'a [Feature],
}

impl Candidates<'_> {
    /// What a feature counts, where it says all that it can.
    pub(super) fn weight_of(&self, feature: Feature) -> f64 {
        Weights::new(self).of(feature)
    }
}

/// A turn's place among the candidates, and what it is worth.
pub(super) struct Ranked {
    pub place: usize,
    pub score: f64,
    /// What each feature says of it.
    values: Vec<(Feature, f64)>,
}

impl Ranked {
    fn new(place: usize, values: Vec<(Feature, f64)>, weights: Weights<'_>) -> Self {
        let share = |(feature, value): &(Feature, f64)| weights.of(*feature) * value;
        Self { place, score: values.iter().map(share).sum(), values }
    }

    /// What each feature adds to the score; those that add nothing are left out.
    pub(super) fn shares(&self, candidates: &Candidates<'_>) -> Vec<(Feature, f64)> {
        let weights = Weights::new(candidates);
        let share = |(feature, value): &(Feature, f64)| (*feature, weights.of(*feature) * value);
        self.values.iter().map(share).filter(|it| it.1 != 0.0).collect()
    }
}

/// What a turn with all of the question's words and its very meaning gets, of what was looked at:
/// so that scores lie between 0 and about 1. Where nothing of that is left, scores are what the
/// other features add up to.
pub(super) fn best_of(candidates: &Candidates<'_>) -> f64 {
    let weights = Weights::new(candidates);
    let looked = |feature: &&Feature| match feature {
        Feature::Words | Feature::WordsAround | Feature::WordsWide => candidates.words.is_some(),
        _ => feature.is_evidence(),
    };
    let most = |feature: &Feature| match feature {
        Feature::Pieces | Feature::PiecesAround | Feature::PiecesWide => 1.0 - LIKENESS_OF_ANY,
        _ => 1.0,
    };
    let best = |feature: &Feature| weights.of(*feature) * most(feature);
    let best: f64 = Feature::OF_TURNS.iter().filter(looked).map(best).sum();
    if best > 0.0 { best } else { 1.0 }
}

/// Best first, by all features but those that are switched off; of equal ones, the newer.
pub(super) fn rank(clue: &Clue, candidates: &Candidates<'_>) -> Vec<Ranked> {
    let places = places(candidates.turns);
    let words = candidates.words.map(Shares::new);
    let weights = Weights::new(candidates);
    let ranked = (0..candidates.turns.len()).map(|own| {
        let mut values = features(clue, candidates, words.as_ref(), &places, own);
        values.extend(of_pieces(candidates, &Window { places: &places, own }));
        Ranked::new(own, values, weights)
    });
    in_order(ranked.collect(), candidates)
}

/// Ranks anew what was ranked before a model's guess was looked at.
pub(super) fn with_guess(
    ranked: Vec<Ranked>,
    guessed: &Guessed,
    candidates: &Candidates<'_>,
) -> Vec<Ranked> {
    let weights = Weights::new(candidates);
    let ranked = ranked.into_iter().map(|Ranked { place, mut values, .. }| {
        values.push((Feature::Statement, guessed.words_of(place)));
        values.push((Feature::Passage, guessed.nearer_of(place)));
        Ranked::new(place, values, weights)
    });
    in_order(ranked.collect(), candidates)
}

/// Ranks anew what was ranked before its pieces were looked at.
pub(super) fn refine(ranked: Vec<Ranked>, candidates: &Candidates<'_>) -> Vec<Ranked> {
    let (places, weights) = (places(candidates.turns), Weights::new(candidates));
    let ranked = ranked.into_iter().map(|Ranked { place: own, mut values, .. }| {
        values.extend(of_pieces(candidates, &Window { places: &places, own }));
        Ranked::new(own, values, weights)
    });
    in_order(ranked.collect(), candidates)
}

fn in_order(mut ranked: Vec<Ranked>, candidates: &Candidates<'_>) -> Vec<Ranked> {
    let id = |ranked: &Ranked| candidates.turns[ranked.place].id;
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| id(b).cmp(&id(a))));
    ranked
}

fn features(
    clue: &Clue,
    candidates: &Candidates<'_>,
    words: Option<&Shares<'_>>,
    places: &[Place],
    own: usize,
) -> Vec<(Feature, f64)> {
    let (turn, window) = (&candidates.turns[own], Window { places, own });
    let is = |it: bool| if it { 1.0 } else { 0.0 };
    let traits = turn.traits();
    let mut features = Vec::with_capacity(Feature::OF_TURNS.len());
    features.extend([
        (Feature::Speaker, is(clue.is_speaker(turn.speaker.as_deref()))),
        (Feature::Date, clue.dates.agreement(turn.at)),
        (Feature::SpokenDate, clue.dates.agreement_spoken(|| turn.told())),
        (Feature::TimeWord, is(clue.asks_when && traits.says_when)),
        (Feature::Name, is(traits.names_other_than(&clue.callings))),
        (Feature::Question, is(traits.asks)),
        (Feature::Length, (traits.words as f64).ln_1p()),
    ]);
    if let Some(words) = words {
        features.push((Feature::Words, words_within(words, &window, 0)));
        features.push((Feature::WordsAround, words_within(words, &window, REACH)));
        features.push((Feature::WordsWide, words_within(words, &window, WIDE)));
        let asked = window.before().filter(|_| !traits.asks);
        let asked = asked.filter(|it| candidates.turns[it.own].traits().asks);
        features.push((Feature::Answer, asked.map_or(0.0, |asked| words_within(words, &asked, 0))));
    }
    if let Some(cosines) = candidates.cosines {
        let own = cosines.get(own).copied().flatten();
        features.push((Feature::Meaning, f64::from(own.unwrap_or(0.0))));
        features.push((Feature::MeaningAround, mixed(cosines, &window)));
    }
    features
}

/// What is not looked at itself must not profit from what stands around it.
fn of_pieces(candidates: &Candidates<'_>, window: &Window<'_>) -> Vec<(Feature, f64)> {
    let Some(pieces) = candidates.pieces.filter(|pieces| pieces[window.own].is_some()) else {
        return vec![];
    };
    let near = |reach| likeness(pieces, window, reach) - LIKENESS_OF_ANY;
    vec![
        (Feature::Pieces, near(0)),
        (Feature::PiecesAround, near(REACH)),
        (Feature::PiecesWide, near(WIDE)),
    ]
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use uuid::Uuid;

    use super::super::window::SESSION_GAP;
    use super::*;
    use crate::ids::TurnId;
    use crate::recall::{Factors, Held};

    fn turn(index: i64, minutes: i64, speaker: &str, content: &str) -> Arc<Spoken> {
        let id = TurnId(Uuid::from_u128(index.unsigned_abs().into()));
        let at = Timestamp::from_second(60 * minutes).unwrap();
        let (place, speaker) = (("c".into(), index), Some(speaker.into()));
        Arc::new(Spoken::new(id, place, speaker, content.into(), at))
    }

    fn evidence(counts: &[u32]) -> WordEvidence {
        let held = |count: &u32| Held { counts: vec![*count], length: 4 };
        WordEvidence {
            documents: 100,
            average_length: 4.0,
            asked: vec![1],
            held_by: vec![2],
            items: counts.iter().map(held).collect(),
        }
    }

    fn like(nearest: &[f32]) -> PieceLikeness {
        PieceLikeness { nearest: nearest.to_vec(), pieces: 9 }
    }

    fn order(clue: &Clue, turns: &[Arc<Spoken>], counts: &[u32]) -> Vec<usize> {
        let words = evidence(counts);
        let candidates =
            Candidates { turns, words: Some(&words), cosines: None, pieces: None, without: &[] };
        rank(clue, &candidates).iter().map(|ranked| ranked.place).collect()
    }

    #[test]
    fn an_answer_is_found_beside_the_words_of_its_question() {
        let clue = Clue::of("what did the boat cost", &[]);
        let turns = [
            turn(0, 0, "Ana", "What did you pay for the boat?"),
            turn(1, 1, "Bo", "Nine hundred, all in all."),
            turn(9, 2, "Bo", "Something else altogether."),
            turn(10, 3, "Bo", "And more of something else."),
        ];
        assert_eq!(order(&clue, &turns, &[1, 0, 0, 0])[..2], [0, 1]);
    }

    #[test]
    fn a_long_silence_ends_what_belongs_together() {
        let clue = Clue::of("boat", &[]);
        let gap = SESSION_GAP.as_mins() + 1;
        let turns = [turn(0, 0, "Ana", "the boat"), turn(1, gap, "Bo", "Nine hundred it was")];
        let words = evidence(&[1, 0]);
        let candidates = Candidates {
            turns: &turns,
            words: Some(&words),
            cosines: None,
            pieces: None,
            without: &[],
        };
        let ranked = rank(&clue, &candidates);
        let later = ranked.iter().find(|ranked| ranked.place == 1).unwrap();
        let shares = later.shares(&candidates);
        assert_eq!(shares.iter().map(|it| it.0).collect::<Vec<_>>(), [Feature::Length]);
    }

    #[test]
    fn who_is_asked_about_goes_first() {
        let clue = Clue::of("What does Bo sail?", &["Ana".to_owned(), "Bo".to_owned()]);
        let turns = [turn(0, 0, "Ana", "I sail a boat"), turn(1, 0, "Bo", "I sail a boat")];
        assert_eq!(order(&clue, &turns, &[1, 1]), [1, 0]);
    }

    #[test]
    fn every_share_is_explained() {
        let clue = Clue::of("When in January 1970 did Bo sail?", &["Bo".to_owned()]);
        let turns = [
            turn(0, 0, "Ana", "Did you sail?"),
            turn(1, 1, "Bo", "Yes, with Zoe, in January 1970."),
        ];
        let (words, cosines) = (evidence(&[1, 1]), [Some(0.5), Some(0.5)]);
        let pieces = [Some(like(&[0.9, 0.4])), Some(like(&[0.9, 0.4]))];
        let mut candidates = Candidates {
            turns: &turns,
            words: Some(&words),
            cosines: Some(&cosines),
            pieces: None,
            without: &[],
        };
        let shares = |candidates: &Candidates<'_>| {
            let ranked = rank(&clue, candidates);
            assert_eq!(ranked[0].place, 1);
            let shares = ranked[0].shares(candidates);
            let sum: f64 = shares.iter().map(|(_, share)| share).sum();
            assert!((sum - ranked[0].score).abs() < 1e-9);
            shares.len()
        };
        // What answers does not ask, and everything else is there.
        assert_eq!(shares(&candidates), Feature::OF_TURNS.len() - 4);
        candidates.pieces = Some(&pieces);
        assert_eq!(shares(&candidates), Feature::OF_TURNS.len() - 1);
    }

    #[test]
    fn a_feature_that_is_switched_off_counts_for_nothing() {
        let clue = Clue::of("What does Bo sail?", &["Ana".to_owned(), "Bo".to_owned()]);
        let turns = [turn(0, 0, "Ana", "I sail a boat"), turn(1, 0, "Bo", "I sail a ship")];
        let words = evidence(&[2, 1]);
        let all = Candidates {
            turns: &turns,
            words: Some(&words),
            cosines: None,
            pieces: None,
            without: &[],
        };
        let first = |without: &[Feature]| rank(&clue, &Candidates { without, ..all })[0].place;
        assert_eq!((first(&[]), first(&[Feature::Speaker])), (1, 0));
        let fewer = Candidates { without: &[Feature::Speaker, Feature::Words], ..all };
        let ranked = rank(&clue, &fewer);
        let left = ranked.iter().flat_map(|it| it.shares(&fewer));
        let left = left.map(|it| it.0).collect::<Vec<_>>();
        assert!(!left.contains(&Feature::Speaker) && !left.contains(&Feature::Words), "{left:?}");
        assert!(
            (best_of(&all) - best_of(&fewer) - weights::of_turns(Feature::Words)[0]).abs() < 1e-9
        );
        let none = Candidates { without: &Feature::ALL, ..all };
        assert!((best_of(&none) - 1.0).abs() < 1e-9, "nothing to divide by");
    }

    /// Memories and turns share one list: each has to give way where the other fits better.
    #[test]
    fn scores_of_turns_compare_with_those_of_memories() {
        let clue = Clue::of("zebra777", &[]);
        let turns = [turn(0, 0, "Ana", "all about zebra777"), turn(9, 200, "Bo", "about the rain")];
        let (words, cosines) = (evidence(&[1, 0]), [Some(0.5), Some(0.1)]);
        let pieces = [Some(like(&[0.95])), Some(like(&[0.2]))];
        let all = Candidates {
            turns: &turns,
            words: Some(&words),
            cosines: Some(&cosines),
            pieces: Some(&pieces),
            without: &[],
        };
        let both = Candidates { pieces: None, ..all };
        let by_words = Candidates {
            turns: &turns,
            words: Some(&words),
            cosines: None,
            pieces: None,
            without: &[],
        };
        // The best of their list, and everything else speaks for them.
        let plain = Factors {
            relevance: 1.0,
            temporal: 1.0,
            recency: 1.0,
            weight: 1.0,
            confidence: 1.0,
            kind: 1.0,
            pinned: 1.0,
            fit: 1.0,
        };
        let fitting = plain.product();
        let lifted = Factors { temporal: 1.2, recency: 1.1, kind: 1.1, pinned: 1.1, ..plain };
        let unfit = Factors { fit: 0.2, ..lifted }.product();
        for candidates in [all, both, by_words] {
            let best = best_of(&candidates);
            let ranked = rank(&clue, &candidates);
            assert_eq!(ranked.iter().map(|it| it.place).collect::<Vec<_>>(), [0, 1]);
            let scores: Vec<_> = ranked.iter().map(|it| it.score / best).collect();
            assert!(scores[0] > unfit, "{scores:?} {unfit}");
            assert!(scores[1] < fitting / 2.0, "{scores:?}");
        }
    }
}
