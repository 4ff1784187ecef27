//! Rank fusion, which chooses what is weighed, and the factors that weigh a memory beside what it
//! has to do with the query.

use std::collections::HashMap;

use jiff::Timestamp;
use uuid::Uuid;

use super::{Hit, Technique, Through};
use crate::memory::{Kind, Memory, Temporal};

/// How deep each technique looks.
pub const FOUND_PER_TECHNIQUE: usize = 100;
/// Reciprocal rank fusion: the greater, the less the first ranks stand out.
const RRF_K: f64 = 20.0;
/// How much a list counts beside that of words. What is told of an entity is a weaker sign than
/// what the query says: it lifts what the others found and brings along the little that they did
/// not, behind what they found well.
const ENTITIES: f64 = 0.6;
const CURRENT: f64 = 1.2;
const PAST: f64 = 0.7;
const FACT: f64 = 1.1;
const PINNED: f64 = 1.1;
const GUESSED_KIND: f64 = 1.1;
/// The most that having been recorded just now adds, and the days after which half is left.
const RECENCY: f64 = 0.1;
const RECENCY_HALF_LIFE_DAYS: f64 = 30.0;
/// Weight 0 leaves this share of the score, weight 1 all of it.
const WEIGHT_FLOOR: f64 = 0.25;
/// Confidence 0 leaves this share of the score, confidence 1 all of it.
const CONFIDENCE_FLOOR: f64 = 0.5;

/// Where and how well one technique found an item.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub technique: Technique,
    /// From 1.
    pub rank: usize,
    pub score: f32,
    /// The entities that led there, from that of the query on.
    pub through: Vec<Through>,
}

pub(crate) struct Fused {
    pub id: Uuid,
    pub score: f64,
}

/// How many candidates are weighed for an answer of so many.
pub(super) fn weighed_count(limit: usize) -> usize {
    (2 * limit).max(20)
}

/// Adds up 1 / (k + rank) over the lists, scaled so that first in every list is 1.
///
/// Ranks alone would put a list's second close behind its first, however little it has to do
/// with the question, and the factors of a memory could then lift it to the top. So each share
/// counts by how near the hit's own score comes to the best of its list: factors decide between
/// what is about equally relevant, and relevance decides the rest.
pub(crate) fn fuse(lists: &[(Technique, &[Hit])]) -> Vec<Fused> {
    let mut scores: HashMap<Uuid, f64> = HashMap::new();
    for (technique, hits) in lists {
        let best = best_of(*technique, hits);
        for (place, hit) in hits.iter().enumerate() {
            *scores.entry(hit.id).or_default() +=
                weight(*technique) * strength(hit.score, best) * share(place + 1);
        }
    }
    let searched = lists.iter().filter(|(_, hits)| !hits.is_empty());
    let total: f64 = searched.map(|(technique, _)| weight(*technique)).sum();
    let best = share(1) * if total > 0.0 { total } else { 1.0 };
    let mut fused: Vec<_> =
        scores.into_iter().map(|(id, score)| Fused { id, score: score / best }).collect();
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| b.id.cmp(&a.id)));
    fused
}

fn weight(technique: Technique) -> f64 {
    match technique {
        Technique::Words | Technique::Vectors => 1.0,
        Technique::Entities => ENTITIES,
    }
}

/// What a score is measured by. Entities say by themselves how much they are worth, 0 to 1: few of
/// them are near is no reason to take the nearest for a name.
fn best_of(technique: Technique, hits: &[Hit]) -> f32 {
    match technique {
        Technique::Words | Technique::Vectors => hits.first().map_or(0.0, |hit| hit.score),
        Technique::Entities => 1.0,
    }
}

fn share(rank: usize) -> f64 {
    1.0 / (RRF_K + rank as f64)
}

/// How near a score comes to the best of its list, 0 to 1. Where even the best is not above
/// zero, as a cosine may be, scores say nothing and ranks alone count.
fn strength(score: f32, best: f32) -> f64 {
    if best > 0.0 { f64::from(score / best).clamp(0.0, 1.0) } else { 1.0 }
}

pub(super) fn found_by(lists: &[(Technique, &[Hit])], id: Uuid) -> Vec<Found> {
    let find = |&(technique, hits): &(Technique, &[Hit])| {
        let place = hits.iter().position(|hit| hit.id == id)?;
        Some(Found { technique, rank: place + 1, score: hits[place].score, through: vec![] })
    };
    lists.iter().filter_map(find).collect()
}

/// What a memory has to do with the query, and what its own properties do to its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factors {
    /// What its features add up to, as a share of what those of the best memory do.
    pub relevance: f64,
    pub temporal: f64,
    pub recency: f64,
    pub weight: f64,
    pub confidence: f64,
    pub kind: f64,
    pub pinned: f64,
    /// How well it fits the query, above 0 and at most 1; so that scores of memories and of turns
    /// compare.
    pub fit: f64,
}

impl Factors {
    pub(super) fn of(
        memory: &Memory,
        temporal: Option<Temporal>,
        now: Timestamp,
        (relevance, fit): (f64, f64),
    ) -> Self {
        let age_days = now.duration_since(memory.created_at).as_secs_f64().max(0.0) / 86_400.0;
        let halved = 0.5_f64.powf(age_days / RECENCY_HALF_LIFE_DAYS);
        Self {
            relevance,
            temporal: match temporal {
                Some(Temporal::Current) => CURRENT,
                Some(Temporal::Past) => PAST,
                Some(Temporal::Future) | None => 1.0,
            },
            recency: 1.0 + RECENCY * halved,
            weight: WEIGHT_FLOOR + (1.0 - WEIGHT_FLOOR) * memory.weight,
            confidence: CONFIDENCE_FLOOR + (1.0 - CONFIDENCE_FLOOR) * memory.confidence,
            kind: if memory.kind == Kind::Fact { FACT } else { 1.0 },
            pinned: if memory.pinned { PINNED } else { 1.0 },
            fit,
        }
    }

    /// What is of the kind that a model takes the question to ask for goes before what is not.
    pub(super) fn with_guessed(self, is_guessed: bool) -> Self {
        Self { kind: if is_guessed { self.kind * GUESSED_KIND } else { self.kind }, ..self }
    }

    pub fn product(&self) -> f64 {
        let Self { relevance, temporal, recency, weight, confidence, kind, pinned, fit } = self;
        relevance * temporal * recency * weight * confidence * kind * pinned * fit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(id: u128, score: f32) -> Hit {
        Hit { id: Uuid::from_u128(id), score }
    }

    #[test]
    fn found_by_both_beats_found_by_one() {
        let (words, vectors) = ([hit(1, 9.0), hit(2, 8.0)], [hit(3, 0.9), hit(2, 0.8)]);
        let lists = [(Technique::Words, &words[..]), (Technique::Vectors, &vectors[..])];
        let fused = fuse(&lists);
        assert_eq!(fused[0].id, Uuid::from_u128(2));
        assert!(fused.iter().all(|f| f.score <= 1.0));
        let found = found_by(&lists, Uuid::from_u128(2));
        assert_eq!(found.iter().map(|f| f.rank).collect::<Vec<_>>(), [2, 2]);
    }

    #[test]
    fn factors_nudge_and_relevance_decides() {
        let everything = FACT * PINNED * CURRENT * (1.0 + RECENCY);
        let (best, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let score = |hits: &[Hit], id| {
            let fused = fuse(&[(Technique::Words, &[]), (Technique::Vectors, hits)]);
            fused.iter().find(|f| f.id == id).unwrap().score
        };
        let unrelated = [hit(1, 0.62), hit(2, 0.21)];
        assert!(score(&unrelated, best) > score(&unrelated, other) * everything);
        let as_good = [hit(1, 0.62), hit(2, 0.61)];
        assert!(score(&as_good, best) < score(&as_good, other) * FACT);
        let opposed = [hit(1, -0.1), hit(2, -0.2)];
        assert!(score(&opposed, best) > score(&opposed, other));
    }

    #[test]
    fn mere_membership_stays_behind_what_words_find_well() {
        let words: Vec<_> = (1..=10).map(|n| hit(n, 9.0 - 0.2 * n as f32)).collect();
        let bare = [hit(100, 0.8), hit(101, 0.8), hit(102, 0.8)];
        let fused = fuse(&[(Technique::Words, &words), (Technique::Entities, &bare)]);
        let first: Vec<_> = fused.iter().take(10).map(|f| f.id.as_u128()).collect();
        assert_eq!(first, (1..=10).collect::<Vec<_>>());
        assert_eq!(fused.len(), 13);
        let lifted = [hit(5, 0.8)];
        let fused = fuse(&[(Technique::Words, &words), (Technique::Entities, &lifted)]);
        assert_eq!(fused[0].id, Uuid::from_u128(5), "what is about the entity rises");
    }

    #[test]
    fn one_empty_list_leaves_the_other_as_it_was() {
        let words = [hit(1, 9.0), hit(2, 8.0)];
        let fused = fuse(&[(Technique::Words, &words[..]), (Technique::Vectors, &[])]);
        assert_eq!(fused[0].id, Uuid::from_u128(1));
        assert!((fused[0].score - 1.0).abs() < 1e-9);
    }
}
