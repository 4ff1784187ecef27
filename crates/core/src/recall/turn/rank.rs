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
use super::window::{Place, REACH, WIDE, Window, likeness, mixed, words_within};
use crate::recall::evidence::Shares;
use crate::recall::feature::PerFeature;
use crate::recall::further::Guessed;
use crate::recall::piece::{self, LIKENESS_OF_ANY};
use crate::recall::{Feature, WordEvidence, weights};
use crate::store::PieceLikeness;

/// What a feature counts, where pieces tell so much, 0 to 1.
fn weight_of(feature: Feature, candidates: &Candidates<'_>, telling: f64) -> f64 {
    if candidates.without.contains(&feature) {
        return 0.0;
    }
    let [by_words, with_meaning, with_pieces] = weights::of_turns(feature);
    let without = if candidates.cosines.is_some() { with_meaning } else { by_words };
    telling * with_pieces + (1.0 - telling) * without
}

/// The turns that may answer, by conversation and index, and what is known of each.
#[derive(Clone, Copy)]
pub(super) struct Candidates<'a> {
    pub turns: &'a [Arc<Spoken>],
    /// Where each of them stands.
    pub places: &'a [Place],
    pub words: Option<&'a WordEvidence>,
    pub cosines: Option<&'a [Option<f32>]>,
    /// How near the question's pieces come to each; nothing for those not looked at.
    pub pieces: Option<&'a [Option<PieceLikeness>]>,
    /// What is switched off.
    pub without: &'a [Feature],
}

impl Candidates<'_> {
    /// What each feature counts, where it says all that it can.
    pub(super) fn weights(&self) -> PerFeature {
        let telling = piece::telling(self.pieces.unwrap_or_default());
        PerFeature::new(|feature| weight_of(feature, self, telling))
    }

    fn window(&self, own: usize) -> Window<'_> {
        Window { places: self.places, own }
    }
}

/// A turn's place among the candidates, and what it is worth.
#[derive(Clone, Copy)]
pub(super) struct Ranked {
    pub place: usize,
    pub score: f64,
    /// What each feature says of it.
    values: PerFeature,
}

impl Ranked {
    fn new(place: usize, values: PerFeature, weights: &PerFeature) -> Self {
        Self { place, score: values.times(weights).sum(), values }
    }

    /// What each feature adds to the score; those that add nothing are left out.
    pub(super) fn shares(&self, candidates: &Candidates<'_>) -> Vec<(Feature, f64)> {
        self.values.times(&candidates.weights()).told()
    }
}

/// What a turn with all of the question's words and its very meaning gets, of what was looked at:
/// so that scores lie between 0 and about 1. Where nothing of that is left, scores are what the
/// other features add up to.
pub(super) fn best_of(candidates: &Candidates<'_>) -> f64 {
    let weights = candidates.weights();
    let looked = |feature: &&Feature| match feature {
        Feature::Words | Feature::WordsAround | Feature::WordsWide => candidates.words.is_some(),
        _ => feature.is_evidence(),
    };
    let most = |feature: &Feature| match feature {
        Feature::Pieces | Feature::PiecesAround | Feature::PiecesWide => 1.0 - LIKENESS_OF_ANY,
        _ => 1.0,
    };
    let best = |feature: &Feature| weights.get(*feature) * most(feature);
    let best: f64 = Feature::OF_TURNS.iter().filter(looked).map(best).sum();
    if best > 0.0 { best } else { 1.0 }
}

/// Best first, by all features but those that are switched off; of equal ones, the newer.
pub(super) fn rank(clue: &Clue, candidates: &Candidates<'_>) -> Vec<Ranked> {
    let (words, weights) = (candidates.words.map(Shares::new), candidates.weights());
    let mut room = Vec::new();
    let ranked = (0..candidates.turns.len()).map(|own| {
        let mut values = PerFeature::default();
        tell_itself(&candidates.turns[own], clue, &mut values);
        if let Some(words) = &words {
            tell_words(candidates, words, own, &mut room, &mut values);
        }
        if let Some(cosines) = candidates.cosines {
            let near = cosines.get(own).copied().flatten().unwrap_or(0.0);
            values.set(Feature::Meaning, f64::from(near));
            values.set(Feature::MeaningAround, mixed(cosines, &candidates.window(own)));
        }
        tell_pieces(candidates, own, &mut values);
        Ranked::new(own, values, &weights)
    });
    in_order(&ranked.collect::<Vec<_>>(), candidates)
}

/// Ranks anew what was ranked before a model's guess was looked at.
pub(super) fn with_guess(
    ranked: Vec<Ranked>,
    guessed: &Guessed,
    candidates: &Candidates<'_>,
) -> Vec<Ranked> {
    let weights = candidates.weights();
    let ranked = ranked.into_iter().map(|Ranked { place, mut values, .. }| {
        values.set(Feature::Statement, guessed.words_of(place));
        values.set(Feature::Passage, guessed.nearer_of(place));
        Ranked::new(place, values, &weights)
    });
    in_order(&ranked.collect::<Vec<_>>(), candidates)
}

/// Ranks anew what was ranked before its pieces were looked at.
pub(super) fn refine(ranked: Vec<Ranked>, candidates: &Candidates<'_>) -> Vec<Ranked> {
    let weights = candidates.weights();
    let ranked = ranked.into_iter().map(|Ranked { place, mut values, .. }| {
        tell_pieces(candidates, place, &mut values);
        Ranked::new(place, values, &weights)
    });
    in_order(&ranked.collect::<Vec<_>>(), candidates)
}

/// What is sorted are scores and places alone: all that is known of a turn is too much to be moved about.
fn in_order(ranked: &[Ranked], candidates: &Candidates<'_>) -> Vec<Ranked> {
    let id = |place: usize| candidates.turns[ranked[place].place].id;
    let mut order: Vec<_> = ranked.iter().map(|it| it.score).zip(0..).collect();
    order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then_with(|| id(b.1).cmp(&id(a.1))));
    order.into_iter().map(|(_, place)| ranked[place]).collect()
}

/// What a turn tells by who said it, when, and how.
fn tell_itself(turn: &Spoken, clue: &Clue, values: &mut PerFeature) {
    let is = |it: bool| if it { 1.0 } else { 0.0 };
    let traits = turn.traits();
    values.set(Feature::Speaker, is(clue.is_speaker(turn.speaker.as_deref())));
    values.set(Feature::Date, clue.dates.agreement(turn.at));
    values.set(Feature::SpokenDate, clue.dates.agreement_spoken(|| turn.told()));
    values.set(Feature::TimeWord, is(clue.asks_when && turn.says_when()));
    values.set(Feature::Name, is(traits.names_other_than(&clue.callings)));
    values.set(Feature::Question, is(traits.asks));
    values.set(Feature::Length, (traits.words as f64).ln_1p());
}

/// What its words tell, and those around it.
fn tell_words(
    candidates: &Candidates<'_>,
    words: &Shares<'_>,
    own: usize,
    room: &mut Vec<f64>,
    values: &mut PerFeature,
) {
    let window = candidates.window(own);
    let mut within = |window: &Window<'_>, reach| words_within(words, window, reach, room);
    values.set(Feature::Words, within(&window, 0));
    values.set(Feature::WordsAround, within(&window, REACH));
    values.set(Feature::WordsWide, within(&window, WIDE));
    let asks = |own: usize| candidates.turns[own].traits().asks;
    let asked = window.before().filter(|before| !asks(own) && asks(before.own));
    values.set(Feature::Answer, asked.map_or(0.0, |asked| within(&asked, 0)));
}

/// What its pieces tell, and those around it. What is not looked at itself must not profit from what
/// stands around it.
fn tell_pieces(candidates: &Candidates<'_>, own: usize, values: &mut PerFeature) {
    let Some(pieces) = candidates.pieces.filter(|pieces| pieces[own].is_some()) else { return };
    let near = |reach| likeness(pieces, &candidates.window(own), reach) - LIKENESS_OF_ANY;
    values.set(Feature::Pieces, near(0));
    values.set(Feature::PiecesAround, near(REACH));
    values.set(Feature::PiecesWide, near(WIDE));
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use uuid::Uuid;

    use super::super::window::{SESSION_GAP, places};
    use super::*;
    use crate::ids::TurnId;
    use crate::recall::{Factors, Occurrences};

    fn turn(index: i64, minutes: i64, speaker: &str, content: &str) -> Arc<Spoken> {
        let id = TurnId(Uuid::from_u128(index.unsigned_abs().into()));
        let at = Timestamp::from_second(60 * minutes).unwrap();
        let (place, speaker) = (("c".into(), index), Some(speaker.into()));
        Arc::new(Spoken::new(id, place, speaker, content.into(), at))
    }

    fn evidence(counts: &[u32]) -> WordEvidence {
        WordEvidence {
            documents: 100,
            average_length: 4.0,
            asked: vec![1],
            held_by: vec![2],
            items: Occurrences::new(1, counts.to_vec(), vec![4; counts.len()]),
        }
    }

    fn like(nearest: &[f32]) -> PieceLikeness {
        PieceLikeness { nearest: nearest.to_vec(), pieces: 9 }
    }

    /// Turns of which nothing is known but what they tell themselves.
    fn bare<'a>(turns: &'a [Arc<Spoken>], places: &'a [Place]) -> Candidates<'a> {
        Candidates { turns, places, words: None, cosines: None, pieces: None, without: &[] }
    }

    fn order(clue: &Clue, turns: &[Arc<Spoken>], counts: &[u32]) -> Vec<usize> {
        let words = evidence(counts);
        let places = places(turns);
        let candidates = Candidates { words: Some(&words), ..bare(turns, &places) };
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
        let places = places(&turns);
        let words = evidence(&[1, 0]);
        let candidates = Candidates { words: Some(&words), ..bare(&turns, &places) };
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
        let places = places(&turns);
        let (words, cosines) = (evidence(&[1, 1]), [Some(0.5), Some(0.5)]);
        let pieces = [Some(like(&[0.9, 0.4])), Some(like(&[0.9, 0.4]))];
        let mut candidates =
            Candidates { words: Some(&words), cosines: Some(&cosines), ..bare(&turns, &places) };
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
        let places = places(&turns);
        let words = evidence(&[2, 1]);
        let all = Candidates { words: Some(&words), ..bare(&turns, &places) };
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
        let places = places(&turns);
        let (words, cosines) = (evidence(&[1, 0]), [Some(0.5), Some(0.1)]);
        let pieces = [Some(like(&[0.95])), Some(like(&[0.2]))];
        let all = Candidates {
            words: Some(&words),
            cosines: Some(&cosines),
            pieces: Some(&pieces),
            ..bare(&turns, &places)
        };
        let both = Candidates { pieces: None, ..all };
        let by_words = Candidates { words: Some(&words), ..bare(&turns, &places) };
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
