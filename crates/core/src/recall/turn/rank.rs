//! What a turn is worth to a question: its words and those around it, its meaning, who said it
//! and when. All numbers of this ranking stand here.
//!
//! A turn is short and answers what was asked before it, so its own words say little. Words are
//! therefore counted in the turn, in windows around it and in its session, each as a share of
//! what a text with all of the question's words would get: then the weights mean the same
//! whatever is asked and however much is stored.

use std::str::FromStr;

use jiff::SignedDuration;

use super::clue::Clue;
use super::dates::speaks_of_time;
use crate::conversation::Turn;
use crate::error::{Error, Result};
use crate::ids::shorten;
use crate::recall::WordEvidence;

/// How soon repeating a word stops helping, and how much long texts are held back.
const K1: f64 = 0.9;
const B: f64 = 0.4;
/// After how long a silence another session begins.
pub(super) const SESSION_GAP: SignedDuration = SignedDuration::from_hours(2);
/// How many turns before and after one belong to its widest window.
pub(super) const REACH: usize = 2;
/// So many turns of a session with a word are worth half of what any number of them is.
const SESSION_HALF: f64 = 2.0;
/// How much the meaning of a turn's neighbours counts: of the one before it, the one behind it,
/// and those further away.
const BEFORE: f64 = 0.7;
const BEHIND: f64 = 0.5;
const FURTHER: f64 = 0.3;

/// What speaks for a turn, or against it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// The question's words in the turn itself.
    Words,
    /// In the turn and those next to it.
    WordsNear,
    /// In the turn and two on each side.
    WordsAround,
    /// In the turns of the same session.
    WordsInSession,
    /// How near the turn is in meaning.
    Meaning,
    /// The same, with its neighbours mixed in.
    MeaningAround,
    /// Said by the one whom the question names.
    Speaker,
    /// Said when the question says.
    Date,
    /// Says when something was, and that is asked for.
    TimeWord,
    /// Asks itself.
    Question,
    /// Says more.
    Length,
}

impl Feature {
    pub const ALL: [Self; 11] = [
        Self::Words,
        Self::WordsNear,
        Self::WordsAround,
        Self::WordsInSession,
        Self::Meaning,
        Self::MeaningAround,
        Self::Speaker,
        Self::Date,
        Self::TimeWord,
        Self::Question,
        Self::Length,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::WordsNear => "words_near",
            Self::WordsAround => "words_around",
            Self::WordsInSession => "words_in_session",
            Self::Meaning => "meaning",
            Self::MeaningAround => "meaning_around",
            Self::Speaker => "speaker",
            Self::Date => "date",
            Self::TimeWord => "time_word",
            Self::Question => "question",
            Self::Length => "length",
        }
    }

    const fn weight(self) -> f64 {
        match self {
            Self::Words | Self::Speaker | Self::Date => 0.5,
            Self::WordsNear | Self::WordsAround | Self::WordsInSession => 0.7,
            Self::Meaning | Self::MeaningAround => 1.0,
            Self::TimeWord | Self::Length => 0.08,
            Self::Question => -0.1,
        }
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

/// What a turn with all of the question's words and its very meaning gets, for those of the two
/// that were looked at and without what is switched off: so that scores lie between 0 and about 1.
/// Where nothing of that is left, scores are what the other features add up to.
pub(super) fn best_of(words: bool, meaning: bool, without: &[Feature]) -> f64 {
    let by_words =
        [Feature::Words, Feature::WordsNear, Feature::WordsAround, Feature::WordsInSession];
    let by_meaning = [Feature::Meaning, Feature::MeaningAround];
    let words = by_words.iter().filter(|_| words);
    let meaning = by_meaning.iter().filter(|_| meaning);
    let counted = words.chain(meaning).filter(|feature| !without.contains(feature));
    let best: f64 = counted.map(|feature| feature.weight()).sum();
    if best > 0.0 { best } else { 1.0 }
}

/// The turns that may answer, by conversation and index, and what is known of each.
pub(super) struct Candidates<'a> {
    pub turns: &'a [Turn],
    pub words: Option<&'a WordEvidence>,
    pub cosines: Option<&'a [Option<f32>]>,
}

/// A turn's place among the candidates, and what it is worth.
pub(super) struct Ranked {
    pub place: usize,
    pub score: f64,
    /// What each feature adds; those that add nothing are left out.
    pub shares: Vec<(Feature, f64)>,
}

/// Best first, by all features but those that are switched off; of equal ones, the newer.
pub(super) fn rank(clue: &Clue, candidates: &Candidates<'_>, without: &[Feature]) -> Vec<Ranked> {
    let sessions = sessions(candidates.turns);
    let words = candidates.words.map(|evidence| Words::new(evidence, &sessions));
    let mut ranked: Vec<_> = (0..candidates.turns.len())
        .map(|place| {
            let window = Window { sessions: &sessions, place };
            let features = features(clue, candidates, words.as_ref(), &window);
            let share = |(feature, value): (Feature, f64)| (feature, feature.weight() * value);
            let counted = features.into_iter().filter(|(feature, _)| !without.contains(feature));
            let shares: Vec<_> = counted.map(share).filter(|it| it.1 != 0.0).collect();
            Ranked { place, score: shares.iter().map(|(_, share)| share).sum(), shares }
        })
        .collect();
    let id = |ranked: &Ranked| candidates.turns[ranked.place].id;
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| id(b).cmp(&id(a))));
    ranked
}

fn features(
    clue: &Clue,
    candidates: &Candidates<'_>,
    words: Option<&Words<'_>>,
    window: &Window<'_>,
) -> Vec<(Feature, f64)> {
    let turn = &candidates.turns[window.place];
    let is = |it: bool| if it { 1.0 } else { 0.0 };
    let mut features = vec![
        (Feature::Speaker, is(clue.is_speaker(turn.speaker.as_deref()))),
        (Feature::Date, clue.dates.agreement(turn.at)),
        (Feature::TimeWord, is(clue.asks_when && speaks_of_time(&turn.content))),
        (Feature::Question, is(turn.content.trim_end().ends_with('?'))),
        (Feature::Length, (turn.content.split_whitespace().count() as f64).ln_1p()),
    ];
    if let Some(words) = words {
        features.push((Feature::Words, words.in_window(window, 0)));
        features.push((Feature::WordsNear, words.in_window(window, 1)));
        features.push((Feature::WordsAround, words.in_window(window, REACH)));
        features.push((Feature::WordsInSession, words.in_session(window)));
    }
    if let Some(cosines) = candidates.cosines {
        let own = cosines.get(window.place).copied().flatten();
        features.push((Feature::Meaning, f64::from(own.unwrap_or(0.0))));
        features.push((Feature::MeaningAround, mixed(cosines, window)));
    }
    features
}

/// Numbers the sessions of the candidates: a turn begins one if it is in another conversation
/// than the one before it, or was said long after it.
fn sessions(turns: &[Turn]) -> Vec<Place> {
    let mut session = 0;
    let mut places: Vec<Place> = Vec::with_capacity(turns.len());
    for (i, turn) in turns.iter().enumerate() {
        if let Some(before) = i.checked_sub(1).map(|i| &turns[i]) {
            let silence = turn.at.duration_since(before.at).abs();
            let apart = before.conversation_id != turn.conversation_id || silence > SESSION_GAP;
            session += usize::from(apart);
        }
        places.push(Place { session, index: turn.index });
    }
    places
}

#[derive(Debug, Clone, Copy)]
struct Place {
    session: usize,
    index: i64,
}

/// A turn and those around it.
struct Window<'a> {
    sessions: &'a [Place],
    place: usize,
}

impl Window<'_> {
    /// Who stands at most so far away in the same session, with the distance; the turn itself too.
    fn within(&self, reach: usize) -> impl Iterator<Item = (usize, i64)> {
        let own = self.sessions[self.place];
        let far = i64::try_from(reach).unwrap_or(i64::MAX);
        let from = self.place.saturating_sub(reach);
        let to = (self.place + reach + 1).min(self.sessions.len());
        (from..to).filter_map(move |other| {
            let place = self.sessions[other];
            let distance = place.index - own.index;
            (place.session == own.session && distance.abs() <= far).then_some((other, distance))
        })
    }
}

/// The question's words among the candidates.
struct Words<'a> {
    evidence: &'a WordEvidence,
    /// How much each word counts.
    weights: Vec<f64>,
    /// What a text with all of them gets at most.
    best: f64,
    /// In how many candidates of each session each word is.
    by_session: Vec<Vec<f64>>,
}

impl<'a> Words<'a> {
    fn new(evidence: &'a WordEvidence, places: &[Place]) -> Self {
        let all = evidence.documents as f64;
        let weight = |held_by: &u64| {
            let held_by = *held_by as f64;
            if held_by == 0.0 {
                0.0
            } else {
                (1.0 + (all - held_by + 0.5).max(0.0) / (held_by + 0.5)).ln()
            }
        };
        let weights: Vec<_> = evidence.held_by.iter().map(weight).collect();
        let sessions = places.last().map_or(0, |last| last.session + 1);
        let mut by_session = vec![vec![0.0; weights.len()]; sessions];
        for (held, place) in evidence.items.iter().zip(places) {
            for (count, sum) in held.counts.iter().zip(&mut by_session[place.session]) {
                *sum += if *count > 0 { 1.0 } else { 0.0 };
            }
        }
        let best = (1.0 + K1) * weights.iter().sum::<f64>();
        Self { evidence, weights, best: best.max(f64::MIN_POSITIVE), by_session }
    }

    /// BM25 of a window, as a share of the best there can be.
    fn in_window(&self, window: &Window<'_>, reach: usize) -> f64 {
        let (mut counts, mut length) = (vec![0.0; self.weights.len()], 0.0);
        for (place, _) in window.within(reach) {
            let Some(held) = self.evidence.items.get(place) else { continue };
            length += f64::from(held.length);
            for (sum, count) in counts.iter_mut().zip(&held.counts) {
                *sum += f64::from(*count);
            }
        }
        let usual = self.evidence.average_length.max(1.0) * (2 * reach + 1) as f64;
        let norm = K1 * (1.0 - B + B * length / usual);
        let score = |(count, weight): (&f64, &f64)| weight * count * (K1 + 1.0) / (count + norm);
        counts.iter().zip(&self.weights).map(score).sum::<f64>() / self.best
    }

    fn in_session(&self, window: &Window<'_>) -> f64 {
        let counts = &self.by_session[window.sessions[window.place].session];
        let score = |(count, weight): (&f64, &f64)| weight * count / (count + SESSION_HALF);
        counts.iter().zip(&self.weights).map(score).sum::<f64>() / self.best
    }
}

/// A turn's cosine with those of its neighbours mixed in.
fn mixed(cosines: &[Option<f32>], window: &Window<'_>) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (place, distance) in window.within(REACH) {
        let Some(cosine) = cosines.get(place).copied().flatten() else { continue };
        let weight = match distance {
            0 => 1.0,
            -1 => BEFORE,
            1 => BEHIND,
            _ => FURTHER,
        };
        sum += weight * f64::from(cosine);
        weights += weight;
    }
    if weights > 0.0 { sum / weights } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use uuid::Uuid;

    use super::*;
    use crate::ids::TurnId;
    use crate::node::Properties;
    use crate::recall::{Factors, Held};

    fn turn(index: i64, minutes: i64, speaker: &str, content: &str) -> Turn {
        Turn {
            id: TurnId(Uuid::from_u128(index.unsigned_abs().into())),
            conversation_id: "c".to_owned(),
            channel: "_global".to_owned(),
            index,
            role: "user".to_owned(),
            speaker: Some(speaker.to_owned()),
            content: content.to_owned(),
            content_hash: String::new(),
            at: Timestamp::from_second(60 * minutes).unwrap(),
            token_count: None,
            model: None,
            metadata: Properties::new(),
            created_by: "test".to_owned(),
            user: None,
            created_at: Timestamp::UNIX_EPOCH,
        }
    }

    fn evidence(counts: &[u32]) -> WordEvidence {
        let held = |count: &u32| Held { counts: vec![*count], length: 4 };
        WordEvidence {
            documents: 100,
            average_length: 4.0,
            held_by: vec![2],
            items: counts.iter().map(held).collect(),
        }
    }

    fn order(clue: &Clue, turns: &[Turn], counts: &[u32]) -> Vec<usize> {
        let words = evidence(counts);
        let candidates = Candidates { turns, words: Some(&words), cosines: None };
        rank(clue, &candidates, &[]).iter().map(|ranked| ranked.place).collect()
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
        let candidates = Candidates { turns: &turns, words: Some(&words), cosines: None };
        let ranked = rank(&clue, &candidates, &[]);
        let later = ranked.iter().find(|ranked| ranked.place == 1).unwrap();
        assert_eq!(later.shares.iter().map(|it| it.0).collect::<Vec<_>>(), [Feature::Length]);
    }

    #[test]
    fn who_is_asked_about_goes_first() {
        let clue = Clue::of("What does Bo sail?", &["Ana".to_owned(), "Bo".to_owned()]);
        let turns = [turn(0, 0, "Ana", "I sail a boat"), turn(1, 0, "Bo", "I sail a boat")];
        assert_eq!(order(&clue, &turns, &[1, 1]), [1, 0]);
    }

    #[test]
    fn every_share_is_explained() {
        let clue = Clue::of("When in May 1970 did Bo sail?", &["Bo".to_owned()]);
        let turns = [turn(0, 0, "Bo", "yesterday?")];
        let words = evidence(&[1]);
        let cosines = [Some(0.5)];
        let candidates = Candidates { turns: &turns, words: Some(&words), cosines: Some(&cosines) };
        let ranked = rank(&clue, &candidates, &[]);
        let sum: f64 = ranked[0].shares.iter().map(|(_, share)| share).sum();
        assert!((sum - ranked[0].score).abs() < 1e-9);
        assert_eq!(ranked[0].shares.len(), Feature::ALL.len());
    }

    #[test]
    fn a_feature_that_is_switched_off_counts_for_nothing() {
        let clue = Clue::of("What does Bo sail?", &["Ana".to_owned(), "Bo".to_owned()]);
        let turns = [turn(0, 0, "Ana", "I sail a boat"), turn(1, 0, "Bo", "I sail a ship")];
        let words = evidence(&[2, 1]);
        let candidates = Candidates { turns: &turns, words: Some(&words), cosines: None };
        let first = |without: &[Feature]| rank(&clue, &candidates, without)[0].place;
        assert_eq!((first(&[]), first(&[Feature::Speaker])), (1, 0));
        let ranked = rank(&clue, &candidates, &[Feature::Speaker, Feature::Words]);
        let left = ranked.iter().flat_map(|it| &it.shares).map(|it| it.0).collect::<Vec<_>>();
        assert!(!left.contains(&Feature::Speaker) && !left.contains(&Feature::Words), "{left:?}");
        let words = best_of(true, false, &[]) - best_of(true, false, &[Feature::Words]);
        assert!((words - Feature::Words.weight()).abs() < 1e-9);
        assert!((best_of(true, true, &Feature::ALL) - 1.0).abs() < 1e-9, "nothing to divide by");
    }

    #[test]
    fn features_are_known_by_their_names() {
        for feature in Feature::ALL {
            assert_eq!(feature.as_str().parse::<Feature>().unwrap(), feature);
        }
        let error = "speakers".parse::<Feature>().unwrap_err().to_string();
        assert!(error.starts_with("feature: `speakers` is not one of words, "), "{error}");
    }

    /// Memories and turns share one list: each has to give way where the other fits better.
    #[test]
    fn scores_of_turns_compare_with_those_of_memories() {
        let clue = Clue::of("zebra777", &[]);
        let turns = [turn(0, 0, "Ana", "all about zebra777"), turn(9, 200, "Bo", "about the rain")];
        let (words, cosines) = (evidence(&[1, 0]), [Some(0.5), Some(0.1)]);
        let both = Candidates { turns: &turns, words: Some(&words), cosines: Some(&cosines) };
        let by_words = Candidates { turns: &turns, words: Some(&words), cosines: None };
        // The best of their list, and everything else speaks for them.
        let plain = Factors {
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
        for candidates in [both, by_words] {
            let best = best_of(true, candidates.cosines.is_some(), &[]);
            let ranked = rank(&clue, &candidates, &[]);
            assert_eq!(ranked.iter().map(|it| it.place).collect::<Vec<_>>(), [0, 1]);
            let scores: Vec<_> = ranked.iter().map(|it| it.score / best).collect();
            assert!(scores[0] > unfit, "{scores:?} {unfit}");
            assert!(scores[1] < fitting / 2.0, "{scores:?}");
        }
    }
}
