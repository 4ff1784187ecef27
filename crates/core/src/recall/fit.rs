//! How well memories fit a query, in numbers that mean the same whatever else is stored.
//!
//! Memories are measured by the best of them, which says nothing where none is about the query.
//! Turns are weighed by themselves, and both share one answer. So a memory counts by how near it is
//! in meaning, or by how much of the query's words it has and how surely entities lead to it,
//! whichever speaks more for it. A name leads to much that is about something else, so what the
//! query asks for besides is what must be there. Nothing is left out here: what fits little goes behind. And nothing
//! is put in another order, which the features alone decide.

use std::collections::HashSet;

use uuid::Uuid;

use super::entity::Entity;
use super::rest::Rest;
use super::search::Quest;
use super::weigh::{Candidates, Weighed};
use super::{ItemKind, Matched, WordEvidence};
use crate::Mnemic;
use crate::error::Result;
use crate::text::fold_name;

/// What is left of the score of a memory that does not fit at all, so that those stay in order.
const LEAST: f64 = 0.05;
/// Cosines that any two texts have, and those of texts about the same.
const COSINE_OF_ANY: f64 = 0.2;
const COSINE_OF_SAME: f64 = 0.5;
/// The most that entities say: what is told of one need not be what is asked.
const ENTITIES: f64 = 0.7;
/// How surely its own words say that a memory is about what the query names.
const BY_WORD: f64 = 0.8;
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
    /// Its share of those besides the names, where something was said of these anywhere.
    besides: Option<f64>,
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
        let by_words = match self.besides {
            Some(besides) => (besides + (1.0 - besides) * about).powi(2),
            None => (self.words + about).powi(2).max(about),
        };
        LEAST + (1.0 - LEAST) * self.meaning().max(by_words).clamp(0.0, 1.0)
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
        entities: &[Entity],
        candidates: &Candidates,
        weighed: &[Weighed],
    ) -> Result<Vec<f64>> {
        let words = match &candidates.words {
            Some(memories) => self.shares_of(quest, &quest.sought, memories).await?,
            None => vec![],
        };
        let ids: Vec<_> = weighed.iter().map(|it| candidates.ids[it.place]).collect();
        let named = match rest(quest, entities).filter(|_| candidates.words.is_some()) {
            Some(rest) => self.named(quest, &rest, &ids).await?,
            // What that one said is asked for, and not what is told of them.
            None if quest.clue.as_ref().is_some_and(|clue| clue.only_speaker) => {
                let cosines = self.cosines_besides(quest, &ids).await;
                Named { besides: vec![0.0; ids.len()], cosines, ..Named::default() }
            }
            None => Named::default(),
        };
        let fit = |(own, weighed): (usize, &Weighed)| {
            let place = weighed.place;
            let cosine =
                candidates.cosines.as_ref().and_then(|it| it.get(place).copied().flatten());
            let besides_names = named.cosines.get(own).copied().flatten();
            let cosine = cosine.map(|it| besides_names.map_or(it, |rest| it.midpoint(rest)));
            let guessed = candidates.guessed.nearer_of(place).max(0.0);
            let by_guess = GUESSED * candidates.guessed.words_of(place);
            let words = words.get(place).copied().unwrap_or(0.0).max(by_guess);
            let besides = named.besides.get(own).map(|besides| besides.max(by_guess));
            let led = candidates.entities.get(place).copied().unwrap_or(0.0);
            let entities = named.by_word.get(own).map_or(led, |it| led.max(BY_WORD * it));
            Signs { cosine, words, besides, entities, guessed }.fit()
        };
        Ok(in_order(weighed.iter().enumerate().map(fit).collect()))
    }

    /// How much these memories have of what is asked for besides the names, and of the names.
    /// Nothing, where nothing at all was said of it: then the names are all that can lead there.
    async fn named(&self, quest: &Quest, rest: &Rest, ids: &[Uuid]) -> Result<Named> {
        let of = |words| self.store.word_evidence(quest.scope, ItemKind::Memory, words, ids);
        let (besides, names) = tokio::try_join!(of(&rest.words), of(&rest.names))?;
        let besides = self.shares_of(quest, &rest.words, &besides).await?;
        if besides.is_empty() {
            return Ok(Named::default());
        }
        let by_word = shares(&names, &WordEvidence::default());
        Ok(Named { besides, by_word, cosines: self.cosines_besides(quest, ids).await })
    }

    /// How near these memories are to the question without those who speak; nothing, where that is
    /// not known.
    async fn cosines_besides(&self, quest: &Quest, ids: &[Uuid]) -> Vec<Option<f32>> {
        let names_speaker = quest.clue.as_ref().is_some_and(|clue| !clue.names.is_empty());
        let Some(query) = quest.vector.get().filter(|_| names_speaker) else { return vec![] };
        let (kind, stamp) = (ItemKind::Memory, query.embedder.stamp());
        let cosines = self.store.cosines(quest.scope, kind, stamp, &query.of_turns, ids).await;
        cosines.unwrap_or_default()
    }

    /// How much of some words each memory has; nothing, where neither memories nor turns have any.
    async fn shares_of(
        &self,
        quest: &Quest,
        words: &str,
        memories: &WordEvidence,
    ) -> Result<Vec<f64>> {
        let turns = if quest.clue.is_some() {
            self.store.word_evidence(quest.scope, ItemKind::Turn, words, &[]).await?
        } else {
            WordEvidence::default()
        };
        let is_known = memories.held_by.iter().chain(&turns.held_by).any(|held_by| *held_by > 0);
        Ok(if is_known { shares(memories, &turns) } else { vec![] })
    }
}

/// What memories have, each list in their order; nothing, where names make no difference.
#[derive(Default)]
struct Named {
    besides: Vec<f64>,
    by_word: Vec<f64>,
    /// A name makes any two texts alike, so half of what counts is how near they are without.
    cosines: Vec<Option<f32>>,
}

/// What is asked for besides those who speak, and the entities that the query names.
fn rest(quest: &Quest, entities: &[Entity]) -> Option<Rest> {
    let named = entities.iter().filter(|entity| entity.matched == Matched::Name);
    let names = named.flat_map(|it| std::iter::once(&it.node.name).chain(&it.node.aliases));
    let keys: HashSet<String> = names.map(|name| fold_name(name)).collect();
    let speakers = quest.clue.as_ref().map_or("", |clue| clue.names.as_str());
    Rest::of(&quest.sought, &keys, speakers)
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
    memories.items.iter().map(|held| share(held.counts)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::Occurrences;

    fn evidence(documents: u64, held_by: &[u64], items: &[&[u32]]) -> WordEvidence {
        WordEvidence {
            documents,
            average_length: 5.0,
            asked: vec![1; held_by.len()],
            held_by: held_by.to_vec(),
            items: Occurrences::new(held_by.len(), items.concat(), vec![5; items.len()]),
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
    fn a_name_alone_is_not_what_is_asked_about_it() {
        let of = |besides| Signs { words: 0.7, besides, entities: 0.8, ..Signs::default() }.fit();
        assert!((of(None) - 1.0).abs() < 1e-9, "nothing else is asked");
        assert!((of(Some(1.0)) - 1.0).abs() < 1e-9);
        let (nothing, half) = (of(Some(0.0)), of(Some(0.5)));
        assert!(nothing < 0.4 && half > 1.5 * nothing && half < 0.8, "{nothing} {half}");
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
        let damaged = evidence(4, &[1, 0], &[&[0, 0]]);
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
