//! The memories that entities lead to, ranked by what else speaks for them.
//!
//! Being about an entity says little where thousands are. What other techniques found is lifted
//! if it is about one; of what nothing else speaks for, only the few newest come along.

use std::collections::HashMap;

use uuid::Uuid;

use super::Hit;
use super::entity::Through;
use crate::ids::NodeId;

/// How many come along for which nothing else speaks.
const BARE_MAX: usize = 3;
/// What they count, where others are as good as any.
const BARE: f64 = 0.4;
/// What each further entity adds that a memory is about, as a share of its weight.
const FURTHER: f64 = 0.25;

/// A node that can be reached from the query.
#[derive(Debug, Clone)]
pub(super) struct Reach {
    /// How much it counts, 0 to 1.
    pub weight: f64,
    /// From the entity of the query to this one.
    pub path: Vec<Through>,
}

impl Reach {
    pub(super) fn id(&self) -> NodeId {
        self.path.last().map_or(NodeId(Uuid::nil()), |step| step.id)
    }
}

/// Best first.
#[derive(Default)]
pub(super) struct Expansion {
    pub hits: Vec<Hit>,
    pub through: HashMap<Uuid, Vec<Through>>,
}

/// A memory and what speaks for it.
#[derive(Default)]
struct Candidate {
    reaches: Vec<usize>,
    evidence: f64,
}

impl Expansion {
    /// `subjects` are the nodes of each known memory, `about` the memories of each reach.
    pub(super) fn new(
        reaches: &[Reach],
        known: &[(Uuid, f64)],
        subjects: &[Vec<NodeId>],
        about: &[Vec<Uuid>],
    ) -> Self {
        let places: HashMap<NodeId, usize> =
            reaches.iter().enumerate().map(|(place, reach)| (reach.id(), place)).collect();
        let mut candidates: HashMap<Uuid, Candidate> = HashMap::new();
        for ((id, evidence), nodes) in known.iter().zip(subjects) {
            let met: Vec<usize> = nodes.iter().filter_map(|n| places.get(n).copied()).collect();
            if !met.is_empty() {
                candidates.insert(*id, Candidate { reaches: met, evidence: *evidence });
            }
        }
        for (place, ids) in about.iter().enumerate() {
            for id in ids {
                let candidate = candidates.entry(*id).or_default();
                if !candidate.reaches.contains(&place) {
                    candidate.reaches.push(place);
                }
            }
        }
        Self::rank(reaches, candidates)
    }

    fn rank(reaches: &[Reach], candidates: HashMap<Uuid, Candidate>) -> Self {
        let worth = |candidate: &Candidate| BARE + (1.0 - BARE) * candidate.evidence;
        let best = candidates.values().map(worth).fold(BARE, f64::max);
        let mut ranked: Vec<(Uuid, f64, Candidate)> = candidates
            .into_iter()
            .map(|(id, it)| (id, weight(reaches, &it.reaches) * worth(&it) / best, it))
            .collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| b.0.cmp(&a.0)));
        let mut bare = 0;
        ranked.retain(|(_, _, candidate)| {
            bare += usize::from(candidate.evidence <= 0.0);
            candidate.evidence > 0.0 || bare <= BARE_MAX
        });
        let mut expansion = Self::default();
        for (id, score, candidate) in ranked {
            #[expect(clippy::cast_possible_truncation, reason = "a score is between 0 and 1")]
            expansion.hits.push(Hit { id, score: score as f32 });
            if let Some(reach) = heaviest(reaches, &candidate.reaches) {
                expansion.through.insert(id, reach.path.clone());
            }
        }
        expansion
    }
}

fn heaviest<'r>(reaches: &'r [Reach], places: &[usize]) -> Option<&'r Reach> {
    let met = places.iter().map(|place| (*place, &reaches[*place]));
    // Of equal ones the first, in which the query speaks of it.
    met.max_by(|(a, x), (b, y)| x.weight.total_cmp(&y.weight).then(b.cmp(a))).map(|(_, r)| r)
}

fn weight(reaches: &[Reach], places: &[usize]) -> f64 {
    let greatest = heaviest(reaches, places).map_or(0.0, |reach| reach.weight);
    let sum: f64 = places.iter().map(|place| reaches[*place].weight).sum();
    (greatest + FURTHER * (sum - greatest)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(node: u128, weight: f64) -> Reach {
        let path = vec![Through { id: NodeId(Uuid::from_u128(node)), name: node.to_string() }];
        Reach { weight, path }
    }

    fn memories(numbers: std::ops::Range<u128>) -> Vec<Uuid> {
        numbers.map(Uuid::from_u128).collect()
    }

    fn ids(expansion: &Expansion) -> Vec<u128> {
        expansion.hits.iter().map(|hit| hit.id.as_u128()).collect()
    }

    #[test]
    fn evidence_goes_before_mere_membership_and_membership_does_not_flood() {
        let known = [(Uuid::from_u128(1), 1.0), (Uuid::from_u128(2), 0.5)];
        let subjects = vec![vec![], vec![NodeId(Uuid::from_u128(900))]];
        let about = [memories(10..60)];
        let expansion = Expansion::new(&[reach(900, 0.8)], &known, &subjects, &about);
        assert_eq!(ids(&expansion), [2, 59, 58, 57], "1 is not about it; the newest come along");
        assert!(expansion.hits[0].score > expansion.hits[1].score);
        assert_eq!(expansion.through[&Uuid::from_u128(2)][0].name, "900");
    }

    #[test]
    fn a_memory_about_two_entities_goes_before_one_about_one() {
        let reaches = [reach(900, 0.8), reach(901, 0.8), reach(902, 0.3)];
        let about = [memories(10..12), memories(11..12), memories(12..13)];
        let expansion = Expansion::new(&reaches, &[], &[], &about);
        assert_eq!(ids(&expansion), [11, 10, 12]);
        assert_eq!(expansion.through[&Uuid::from_u128(11)][0].name, "900", "the first of equals");
        assert!(expansion.hits.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
    }
}
