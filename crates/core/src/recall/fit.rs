//! How well memories fit a query, in numbers that mean the same whatever else is stored.
//!
//! Memories are measured by the best of them, which says nothing where none is about the query.
//! Turns are weighed by themselves, and both share one answer. So a memory counts by how near it is
//! in meaning, or by how much of the query's words it has and how surely entities lead to it,
//! whichever speaks more for it. Nothing is left out here: what fits little goes behind. And nothing
//! is put in another order, which the features alone decide.

use super::search::Quest;
use super::weigh::{Candidates, Weighed};
use super::{ItemKind, WordEvidence};
use crate::Mnemic;
use crate::error::Result;

/// What is left of the score of a memory that does not fit at all, so that those stay in order.
const LEAST: f64 = 0.05;
/// Cosines that any two texts have, and those of texts about the same.
const COSINE_OF_ANY: f64 = 0.2;
const COSINE_OF_SAME: f64 = 0.5;
/// The most that entities say: what is told of one need not be what is asked.
const ENTITIES: f64 = 0.7;
/// The most that words say which a model made up.
const GUESSED: f64 = 0.7;
/// So many texts without the query's words are thought to be there besides, since a word is not
/// common because the first few texts have it.
const OTHER_TEXTS: f64 = 10.0;

/// What speaks for a memory, by itself.
#[derive(Debug, Clone, Copy, Default)]
struct Signs {
    cosine: Option<f32>,
    /// Its share of the query's words, 0 to 1.
    words: f64,
    /// How surely entities lead to it, 0 to 1.
    entities: f64,
    /// How much nearer a guess brings the query to it.
    guessed: f64,
}

impl Signs {
    /// Above 0, at most 1. A turn with half of the words gets less than half of what one with all
    /// of them does, and so does a memory; being about what the query names makes up for words.
    fn fit(&self) -> f64 {
        let about = ENTITIES * self.entities;
        let covered = self.words + about;
        let most = self.meaning().max(covered * covered).max(about);
        LEAST + (1.0 - LEAST) * most.clamp(0.0, 1.0)
    }

    /// Rises slowly at both ends: little nearness is mostly chance, and of what is about the same
    /// the order is that of fusing.
    fn meaning(&self) -> f64 {
        let cosine = self.cosine.map_or(0.0, f64::from) + self.guessed;
        let x = (cosine - COSINE_OF_ANY) / (COSINE_OF_SAME - COSINE_OF_ANY);
        let x = x.clamp(0.0, 1.0);
        x * x * (3.0 - 2.0 * x)
    }
}

impl Mnemic {
    /// Of each of these memories, which are in order. Where turns are asked for, they tell with the
    /// memories which words say much.
    pub(super) async fn fits(
        &self,
        quest: &Quest,
        candidates: &Candidates,
        weighed: &[Weighed],
    ) -> Result<Vec<f64>> {
        let words = match &candidates.words {
            Some(memories) if quest.clue.is_some() => {
                let (scope, query) = (quest.scope, &quest.sought);
                let turns = self.store.word_evidence(scope, ItemKind::Turn, query, &[]).await?;
                shares(memories, &turns)
            }
            Some(memories) => shares(memories, &WordEvidence::default()),
            None => vec![],
        };
        let fit = |weighed: &Weighed| {
            let place = weighed.place;
            let cosine =
                candidates.cosines.as_ref().and_then(|it| it.get(place).copied().flatten());
            let guessed = candidates.guessed.nearer_of(place).max(0.0);
            let words = words.get(place).copied().unwrap_or(0.0);
            let words = words.max(GUESSED * candidates.guessed.words_of(place));
            let entities = candidates.entities.get(place).copied().unwrap_or(0.0);
            Signs { cosine, words, entities, guessed }.fit()
        };
        Ok(in_order(weighed.iter().map(fit).collect()))
    }
}

/// What goes before others fits at least as well as they do.
fn in_order(mut fits: Vec<f64>) -> Vec<f64> {
    let mut least = 0.0;
    for fit in fits.iter_mut().rev() {
        least = fit.max(least);
        *fit = least;
    }
    fits
}

/// How much of the query's words each memory has. A rare word counts more than a common one, and
/// one that nothing has says nothing.
fn shares(memories: &WordEvidence, turns: &WordEvidence) -> Vec<f64> {
    let all = (memories.documents + turns.documents) as f64 + OTHER_TEXTS;
    let weight = |(place, held_by): (usize, &u64)| {
        let held_by = (held_by + turns.held_by.get(place).copied().unwrap_or(0)) as f64;
        let rarity = (all - held_by + 0.5).max(0.0) / (held_by + 0.5);
        if held_by > 0.0 { rarity.ln_1p() } else { 0.0 }
    };
    let weights: Vec<f64> = memories.held_by.iter().enumerate().map(weight).collect();
    let best = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let share = |counts: &[u32]| {
        let held = counts.iter().zip(&weights).filter(|(count, _)| **count > 0);
        held.map(|(_, weight)| weight).sum::<f64>() / best
    };
    memories.items.iter().map(|held| share(&held.counts)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::Held;

    fn evidence(documents: u64, held_by: &[u64], items: &[&[u32]]) -> WordEvidence {
        let held = |counts: &&[u32]| Held { counts: counts.to_vec(), length: 5 };
        WordEvidence {
            documents,
            average_length: 5.0,
            asked: vec![1; held_by.len()],
            held_by: held_by.to_vec(),
            items: items.iter().map(held).collect(),
        }
    }

    fn near(cosine: f32) -> Signs {
        Signs { cosine: Some(cosine), ..Signs::default() }
    }

    #[test]
    fn the_best_of_what_does_not_fit_counts_little() {
        for unfit in [Signs::default(), near(0.1), near(-0.4)] {
            assert!((unfit.fit() - LEAST).abs() < 1e-9, "{unfit:?}");
        }
        assert!(near(0.25).fit() > LEAST && near(0.25).fit() < 0.15);
        let half = Signs { words: 0.5, ..Signs::default() };
        assert!(half.fit() > near(0.25).fit() && half.fit() < 0.4);
    }

    #[test]
    fn what_fits_well_keeps_its_score_and_so_its_order() {
        let by_words = Signs { words: 1.0, ..near(0.1) };
        for fitting in [near(0.5), near(0.9), by_words] {
            assert!((fitting.fit() - 1.0).abs() < 1e-9, "{fitting:?}");
        }
    }

    #[test]
    fn what_entities_alone_lead_to_fits_moderately() {
        let named = Signs { entities: 0.8, ..Signs::default() };
        assert!(named.fit() > 0.5 && named.fit() < near(0.5).fit());
        let vaguely = Signs { entities: 0.1, ..Signs::default() };
        let with_words = Signs { words: 0.5, ..named };
        assert!((with_words.fit() - 1.0).abs() < 1e-9, "both together are all that is asked");
        assert!(vaguely.fit() < near(0.3).fit(), "they count by how surely they lead there");
    }

    #[test]
    fn rare_words_count_more_than_common_ones() {
        let found = shares(&evidence(1_000, &[900, 1], &[&[1, 1], &[3, 0], &[0, 1]]), &none());
        assert!((found[0] - 1.0).abs() < 1e-9, "{found:?}");
        assert!(found[1] < 0.1 && found[2] > 0.9, "{found:?}");
        let few = shares(&evidence(2, &[2, 1], &[&[1, 1], &[1, 0]]), &none());
        assert!(few[1] > 0.3, "two texts do not make a word common: {few:?}");
    }

    #[test]
    fn turns_tell_which_words_memories_lack() {
        let memories = evidence(4, &[1, 0], &[&[1, 0], &[0, 0]]);
        assert_eq!(shares(&memories, &none()), [1.0, 0.0], "what nothing has says nothing");
        let said = evidence(1_000, &[700, 1], &[]);
        let found = shares(&memories, &said);
        assert!(found[0] < 0.1, "a turn has the word that matters: {found:?}");
        let damaged = evidence(4, &[1, 0], &[&[]]);
        assert_eq!(shares(&damaged, &said), [0.0]);
    }

    #[test]
    fn what_goes_before_fits_as_well_as_what_goes_behind() {
        assert_eq!(in_order(vec![0.5, 0.9, 0.2, 0.3]), [0.9, 0.9, 0.3, 0.3]);
    }

    fn none() -> WordEvidence {
        WordEvidence::default()
    }
}
