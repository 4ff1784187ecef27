//! Where else is looked than where the question's own words and meaning lead: at the time that it
//! asks about, and by what a model guessed. Nothing of it costs anything where a question names no
//! time and no guess was asked for.

use std::collections::HashMap;

use uuid::Uuid;

use super::evidence::Shares;
use super::guess::Guess;
use super::search::{QueryVector, Quest};
use super::{FOUND_PER_TECHNIQUE, Hit, ItemKind, SearchFilter, Technique};
use crate::Mnemic;
use crate::embed::Purpose;
use crate::error::Result;
use crate::ids::MemoryId;

/// How many more memories each technique brings of each stretch of time.
const DATED_MAX: usize = 20;

/// What a guess says of some items, in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Guessed {
    /// How much of its words each has, 0 to 1.
    pub words: Vec<f64>,
    /// How much nearer each is to the question with the passage mixed in than to the question.
    pub nearer: Vec<f64>,
}

impl Guessed {
    pub(super) fn words_of(&self, place: usize) -> f64 {
        self.words.get(place).copied().unwrap_or(0.0)
    }

    pub(super) fn nearer_of(&self, place: usize) -> f64 {
        self.nearer.get(place).copied().unwrap_or(0.0)
    }
}

impl Mnemic {
    /// Adds what is found elsewhere to the memories that were found, and tells of all of them how
    /// well they agree with the time that is asked about, and what a guess says.
    pub(super) async fn further(
        &self,
        quest: &Quest,
        query: Option<&QueryVector>,
        ids: &mut Vec<Uuid>,
    ) -> Result<(Vec<f64>, Guessed)> {
        if !quest.request.includes_memories() || quest.times.is_empty() && quest.guess.is_none() {
            return Ok((vec![], Guessed::default()));
        }
        self.look_further(quest, query, ids).await;
        tokio::try_join!(
            self.dates_of(quest, ids),
            self.guessed(quest, ItemKind::Memory, query, ids)
        )
    }

    /// Adds memories of the time that the question asks about, and what a guess finds.
    async fn look_further(&self, quest: &Quest, query: Option<&QueryVector>, ids: &mut Vec<Uuid>) {
        let mut found = Vec::new();
        for stretch in quest.times.stretches() {
            let filter = quest.filter.within(*stretch);
            let vector = query.map(|query| (query, query.vector.as_slice()));
            let words = &quest.sought;
            let kind = ItemKind::Memory;
            found.extend(self.hits(quest, kind, (words, vector), &filter, DATED_MAX).await);
        }
        found.extend(self.found_by_guess(quest, ItemKind::Memory, query, &quest.filter).await);
        for id in found {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
    }

    /// What the words of a guess find, and the question with its passage mixed in.
    pub(super) async fn found_by_guess(
        &self,
        quest: &Quest,
        kind: ItemKind,
        query: Option<&QueryVector>,
        filter: &SearchFilter,
    ) -> Vec<Uuid> {
        let Some(guess) = &quest.guess else { return vec![] };
        let mixed = self.mixed(quest, guess, kind, query).await;
        let vector = query.zip(mixed.as_deref());
        self.hits(quest, kind, (&guess.words(), vector), filter, FOUND_PER_TECHNIQUE).await
    }

    /// What is lacking here is told where everything is searched.
    async fn hits(
        &self,
        quest: &Quest,
        kind: ItemKind,
        (words, vector): (&str, Option<(&QueryVector, &[f32])>),
        filter: &SearchFilter,
        limit: usize,
    ) -> Vec<Uuid> {
        let by_words = async {
            if !quest.request.wants(Technique::Words) {
                return Ok(vec![]);
            }
            self.store.search_words(quest.scope, kind, words, filter, limit).await
        };
        let by_vectors = async {
            let Some((query, vector)) = vector else { return Ok(vec![]) };
            let stamp = query.embedder.stamp();
            self.store.search_vectors(quest.scope, kind, stamp, vector, filter, limit).await
        };
        let (words, vectors): (Result<Vec<Hit>>, Result<Vec<Hit>>) =
            tokio::join!(by_words, by_vectors);
        let found = [words, vectors].into_iter().filter_map(|hits| {
            hits.inspect_err(|e| tracing::warn!(error = %e, "it is not looked further")).ok()
        });
        found.flatten().map(|hit| hit.id).collect()
    }

    /// The mean of the question's vector, as this kind is searched with, and the passage's.
    async fn mixed(
        &self,
        quest: &Quest,
        guess: &Guess,
        kind: ItemKind,
        query: Option<&QueryVector>,
    ) -> Option<Vec<f32>> {
        let query = query?;
        let embed = || async {
            let texts = vec![guess.passage.clone()];
            let vectors = query.embedder.embed(texts, Purpose::Document).await?;
            Ok::<_, crate::error::Error>(vectors.into_iter().next().unwrap_or_default())
        };
        let passage = quest.passage.get_or_try_init(embed).await;
        let passage = passage.inspect_err(|e| tracing::warn!(error = %e, "no passage")).ok()?;
        mean(vector_of(kind, query), passage)
    }

    /// What a guess says of these items; nothing, where there is none.
    pub(super) async fn guessed(
        &self,
        quest: &Quest,
        kind: ItemKind,
        query: Option<&QueryVector>,
        ids: &[Uuid],
    ) -> Result<Guessed> {
        let Some(guess) = &quest.guess else { return Ok(Guessed::default()) };
        let mut guessed = Guessed::default();
        if quest.request.wants(Technique::Words) {
            let words = guess.words();
            let evidence = self.store.word_evidence(quest.scope, kind, &words, ids).await?;
            let shares = Shares::new(&evidence);
            guessed.words = evidence.items.iter().map(|held| shares.of(held)).collect();
        }
        let Some((query, mixed)) = query.zip(self.mixed(quest, guess, kind, query).await) else {
            return Ok(guessed);
        };
        let (scope, stamp) = (quest.scope, query.embedder.stamp());
        let (own, with) = tokio::try_join!(
            self.store.cosines(scope, kind, stamp, vector_of(kind, query), ids),
            self.store.cosines(scope, kind, stamp, &mixed, ids)
        )?;
        let nearer = |(own, with): (Option<f32>, Option<f32>)| {
            own.zip(with).map_or(0.0, |(own, with)| f64::from(with - own))
        };
        guessed.nearer = own.into_iter().zip(with).map(nearer).collect();
        Ok(guessed)
    }

    /// How well what these memories tell agrees with the time that the question asks about: when it
    /// was recorded, or became true. Nothing, where the question names none.
    async fn dates_of(&self, quest: &Quest, ids: &[Uuid]) -> Result<Vec<f64>> {
        if quest.times.is_empty() {
            return Ok(vec![]);
        }
        let wanted: Vec<_> = ids.iter().map(|id| MemoryId(*id)).collect();
        let memories = self.store.lookup_memories(quest.scope, &wanted).await?;
        let agreement: HashMap<Uuid, f64> = memories
            .iter()
            .map(|memory| {
                let moments = [Some(memory.created_at), memory.valid_from].into_iter().flatten();
                let best = moments.map(|at| quest.times.agreement(at)).fold(0.0, f64::max);
                (memory.id.0, best)
            })
            .collect();
        Ok(ids.iter().map(|id| agreement.get(id).copied().unwrap_or(0.0)).collect())
    }
}

/// As a kind is searched with.
fn vector_of(kind: ItemKind, query: &QueryVector) -> &[f32] {
    if kind == ItemKind::Turn { &query.of_turns } else { &query.vector }
}

/// Nothing, where the two are not of one model, or cancel each other out.
fn mean(one: &[f32], other: &[f32]) -> Option<Vec<f32>> {
    if one.len() != other.len() {
        return None;
    }
    let sum: Vec<f32> = one.iter().zip(other).map(|(one, other)| one + other).collect();
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    (length > f32::EPSILON).then(|| sum.into_iter().map(|value| value / length).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_is_mixed_with_the_question_by_halves() {
        let half = 0.5_f32.sqrt();
        assert_eq!(mean(&[1.0, 0.0], &[0.0, 1.0]), Some(vec![half, half]));
        assert_eq!(mean(&[1.0, 0.0], &[-1.0, 0.0]), None);
        assert_eq!(mean(&[1.0, 0.0], &[]), None, "it was not embedded");
    }
}
