//! What a memory is worth to a query, by itself: its words, its meaning, its pieces, and what
//! entities lead to it.
//!
//! A memory stands alone: nothing around it speaks for it, as it does for a turn. Each share means
//! the same whatever is asked and however much is stored, so they are added up as they are, and no
//! rank is looked at.

use std::collections::HashMap;

use uuid::Uuid;

use super::confidence::Signs;
use super::evidence::Shares;
use super::feature::PerFeature;
use super::further::Guessed;
use super::search::{QueryVector, Quest, Searches};
use super::{Feature, Hit, ItemKind, Technique, WordEvidence, fuse, piece, weights};
use crate::Mnemic;
use crate::error::Result;
use crate::store::PieceLikeness;

/// How many of the best the query moves towards, and how far: half-way to what they have in common.
const LEADERS: usize = 3;
const LEADING: f32 = 0.5;
/// How many, the best by everything else, are weighed by their pieces.
const WEIGHED_BY_PIECES: usize = 50;
/// The share of these that must have pieces, or those without would be behind for that alone.
const WITH_PIECES_MIN: f64 = 0.9;
/// How many of the best tell whether the answer is in memory at all.
const TELLING: usize = 10;

/// What memories are weighed by; each list in the order of the ids, or nothing where it was not
/// looked at.
pub(super) struct Candidates {
    pub ids: Vec<Uuid>,
    pub words: Option<WordEvidence>,
    /// Of those words that need to be there, where they are not all.
    besides: Option<WordEvidence>,
    /// How many need not.
    spared: usize,
    pub cosines: Option<Vec<Option<f32>>>,
    /// With the query that has moved towards the best.
    moved: Option<Vec<Option<f32>>>,
    pieces: Option<Vec<Option<PieceLikeness>>>,
    /// How surely entities lead to each.
    pub entities: Vec<f64>,
    /// How well each agrees with the time that is asked about.
    pub dates: Vec<f64>,
    /// What a model's guess says of each.
    pub guessed: Guessed,
    /// What is switched off.
    without: Vec<Feature>,
}

/// A memory's place among the candidates, and what it is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weighed {
    pub place: usize,
    pub score: f64,
    /// What each feature adds.
    pub shares: PerFeature,
}

impl Candidates {
    /// So many, best first; of equal ones, the newer. What is sorted are scores and places alone: all that
    /// is known of a memory is too much to be moved about.
    pub(super) fn best(&self, count: usize) -> Vec<Weighed> {
        let words = self.words.as_ref().map(Shares::new);
        let weights = self.weights();
        let weigh = |place: usize| {
            let shares = self.values(words.as_ref(), place).times(&weights);
            Weighed { place, score: shares.sum(), shares }
        };
        let mut order: Vec<_> = (0..self.ids.len()).map(|it| (weigh(it).score, it)).collect();
        order.sort_unstable_by(|a, b| {
            b.0.total_cmp(&a.0).then_with(|| self.ids[b.1].cmp(&self.ids[a.1]))
        });
        order.into_iter().take(count).map(|(_, place)| weigh(place)).collect()
    }

    /// What each feature counts.
    fn weights(&self) -> PerFeature {
        let telling = piece::telling(self.pieces.as_deref().unwrap_or_default());
        PerFeature::new(|feature| match feature {
            feature if self.is_off(feature) => 0.0,
            Feature::Pieces => telling * weights::of_memories(feature),
            feature => weights::of_memories(feature),
        })
    }

    /// What each feature says of one.
    fn values(&self, words: Option<&Shares<'_>>, place: usize) -> PerFeature {
        let held = words.and_then(|words| Some(words.of(words.evidence.items.get(place)?)));
        let cosine = |list: &Option<Vec<Option<f32>>>| {
            list.as_ref().and_then(|list| list.get(place).copied().flatten()).map(f64::from)
        };
        let own = cosine(&self.cosines).unwrap_or(0.0);
        let pieces = self.pieces.as_ref().and_then(|pieces| pieces.get(place)?.as_ref());
        let near = pieces.map_or(0.0, |it| piece::likeness(it) - piece::LIKENESS_OF_ANY);
        let mut values = PerFeature::default();
        values.set(Feature::Words, held.unwrap_or(0.0));
        values.set(Feature::Meaning, own);
        values.set(Feature::Alike, cosine(&self.moved).map_or(0.0, |moved| moved - own));
        values.set(Feature::Pieces, near);
        values.set(Feature::Entities, self.entities.get(place).copied().unwrap_or(0.0));
        values.set(Feature::Date, self.dates.get(place).copied().unwrap_or(0.0));
        values.set(Feature::Statement, self.guessed.words_of(place));
        values.set(Feature::Passage, self.guessed.nearer_of(place));
        values
    }

    /// Where meaning says nothing, the meaning of the best says nothing, either.
    fn is_off(&self, feature: Feature) -> bool {
        self.without.contains(&feature)
            || feature == Feature::Alike && self.without.contains(&Feature::Meaning)
    }

    /// What speaks for the answer being in memory at all.
    pub(super) fn signs(&self, weighed: &[Weighed]) -> Option<Signs> {
        let best = || weighed.iter().take(TELLING).map(|weighed| weighed.place);
        best().next()?;
        let covered = self.besides.as_ref().or(self.words.as_ref()).map(|words| {
            let items: Vec<_> = best().filter_map(|place| words.items.get(place)).collect();
            Shares::new(words).covered(&items)
        });
        let near = |near| piece::likeness_besides(near, self.spared);
        let pieces = self.pieces.iter().flatten().flatten().map(near);
        let near = || {
            let cosines = self.cosines.iter().flatten().flatten();
            cosines.map(|cosine| f64::from(*cosine)).reduce(f64::max)
        };
        let led = || self.entities.iter().copied().reduce(f64::max);
        let likeness = pieces.reduce(f64::max);
        let likeness =
            if covered.is_none() { likeness.or_else(near).or_else(led) } else { likeness };
        Some(Signs { lead: 0.0, likeness, covered })
    }
}

impl Mnemic {
    /// Everything that was found, with what it is weighed by.
    pub(super) async fn memory_candidates(
        &self,
        quest: &Quest,
        searches: &Searches,
    ) -> Result<Candidates> {
        let lists = searches.lists();
        let mut ids: Vec<_> = fuse::fuse(&lists).iter().map(|fused| fused.id).collect();
        let query = quest.vector.get().filter(|_| searches.served(Technique::Vectors));
        let (dates, guessed) = self.further(quest, query, &mut ids).await?;
        let near = async {
            match query {
                Some(query) => self.cosines_of(quest, query, &query.vector, &ids).await,
                None => None,
            }
        };
        let asked = &quest.sought;
        let (words, cosines) = tokio::join!(self.words_of(quest, asked, searches, &ids), near);
        let words = words?;
        let left = quest.times.left_of(asked);
        let besides = match &left {
            Some(left) => self.words_of(quest, &left.words, searches, &ids).await?,
            None => None,
        };
        let led = by_id(&lists, Technique::Entities);
        let entities = ids.iter().map(|id| led.get(id).map_or(0.0, |it| f64::from(*it))).collect();
        let without = quest.request.without.clone();
        let mut candidates = Candidates {
            ids,
            words,
            besides,
            spared: left.map_or(0, |left| left.spared),
            cosines,
            moved: None,
            pieces: None,
            entities,
            dates,
            guessed,
            without,
        };
        let Some(query) = query.filter(|_| candidates.cosines.is_some()) else {
            return Ok(candidates);
        };
        candidates.pieces = self.pieces_of(quest, query, &candidates).await?;
        candidates.moved = self.moved(quest, query, &candidates).await?;
        Ok(candidates)
    }

    async fn words_of(
        &self,
        quest: &Quest,
        query: &str,
        searches: &Searches,
        ids: &[Uuid],
    ) -> Result<Option<WordEvidence>> {
        if !searches.served(Technique::Words) {
            return Ok(None);
        }
        self.store.word_evidence(quest.scope, ItemKind::Memory, query, ids).await.map(Some)
    }

    /// Nothing, where another model has moved in since the search: then the other shares serve.
    async fn cosines_of(
        &self,
        quest: &Quest,
        query: &QueryVector,
        vector: &[f32],
        ids: &[Uuid],
    ) -> Option<Vec<Option<f32>>> {
        let (kind, stamp) = (ItemKind::Memory, query.embedder.stamp());
        let cosines = self.store.cosines(quest.scope, kind, stamp, vector, ids).await;
        cosines.inspect_err(|e| tracing::warn!(error = %e, "memories are weighed without")).ok()
    }

    /// How near the query's pieces come to those of the best by everything else; nothing, where too
    /// few of them have any.
    async fn pieces_of(
        &self,
        quest: &Quest,
        query: &QueryVector,
        candidates: &Candidates,
    ) -> Result<Option<Vec<Option<PieceLikeness>>>> {
        if query.own_pieces.is_empty() {
            return Ok(None);
        }
        let weighed = candidates.best(WEIGHED_BY_PIECES);
        let places: Vec<_> = weighed.iter().map(|it| it.place).collect();
        let ids: Vec<_> = places.iter().map(|place| candidates.ids[*place]).collect();
        let (kind, stamp) = (ItemKind::Memory, query.embedder.stamp());
        let likeness = self.store.piece_likeness(quest.scope, kind, stamp, &query.own_pieces, &ids);
        let found = likeness.await?;
        let with = found.iter().flatten().count();
        if with == 0 || (with as f64) < WITH_PIECES_MIN * found.len() as f64 {
            return Ok(None);
        }
        let mut pieces = vec![None; candidates.ids.len()];
        for (place, likeness) in places.into_iter().zip(found) {
            pieces[place] = likeness;
        }
        Ok(Some(pieces))
    }

    /// The cosines with the query moved towards what the best have in common: what answers in other
    /// words is nearer to them than to the question.
    async fn moved(
        &self,
        quest: &Quest,
        query: &QueryVector,
        candidates: &Candidates,
    ) -> Result<Option<Vec<Option<f32>>>> {
        if candidates.is_off(Feature::Alike) {
            return Ok(None);
        }
        let weighed = candidates.best(LEADERS);
        let leaders: Vec<_> = weighed.iter().map(|it| candidates.ids[it.place]).collect();
        let stamp = query.embedder.stamp();
        let leaders = self.store.vectors_of(quest.scope, stamp, &leaders).await?;
        let Some(moved) = towards(&query.vector, leaders.into_iter().flatten()) else {
            return Ok(None);
        };
        Ok(self.cosines_of(quest, query, &moved, &candidates.ids).await)
    }
}

fn by_id(lists: &[(Technique, &[Hit])], technique: Technique) -> HashMap<Uuid, f32> {
    let of_it = lists.iter().filter(|(found_by, _)| *found_by == technique);
    of_it.flat_map(|(_, hits)| hits.iter().map(|hit| (hit.id, hit.score))).collect()
}

/// The query moved towards the mean of others; nothing, where they have none.
fn towards(query: &[f32], others: impl Iterator<Item = Vec<f32>>) -> Option<Vec<f32>> {
    let mut mean = vec![0.0; query.len()];
    for other in others.filter(|other| other.len() == query.len()) {
        for (sum, value) in mean.iter_mut().zip(other) {
            *sum += value;
        }
    }
    let mean = unit(mean)?;
    unit(query.iter().zip(mean).map(|(own, mean)| own + LEADING * mean).collect())
}

fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length <= f32::EPSILON {
        return None;
    }
    for value in &mut vector {
        *value /= length;
    }
    Some(vector)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::Occurrences;

    fn like(nearest: f32, pieces: usize) -> PieceLikeness {
        PieceLikeness { nearest: vec![nearest], pieces }
    }

    fn words(counts: &[u32]) -> WordEvidence {
        WordEvidence {
            documents: 100,
            average_length: 4.0,
            asked: vec![1],
            held_by: vec![2],
            items: Occurrences::new(1, counts.to_vec(), vec![4; counts.len()]),
        }
    }

    /// Three memories: the first has the word, the second is near, entities lead to the third.
    fn three() -> Candidates {
        Candidates {
            ids: (1..=3).map(Uuid::from_u128).collect(),
            words: Some(words(&[1, 0, 0])),
            besides: None,
            spared: 0,
            cosines: Some(vec![Some(0.3), Some(0.5), None]),
            moved: Some(vec![Some(0.4), Some(0.4), None]),
            pieces: Some(vec![Some(like(0.6, 8)), Some(like(0.4, 8)), None]),
            entities: vec![0.0, 0.0, 0.8],
            dates: vec![],
            guessed: Guessed::default(),
            without: vec![],
        }
    }

    /// The same, the first from the time that is asked about, and a model guessed it.
    fn three_asked() -> Candidates {
        let guessed = Guessed { words: vec![0.2], nearer: vec![0.1] };
        Candidates { dates: vec![0.5, 0.0, 0.0], guessed, ..three() }
    }

    fn order(candidates: &Candidates) -> Vec<usize> {
        candidates.best(3).iter().map(|weighed| weighed.place).collect()
    }

    #[test]
    fn every_share_is_explained_and_can_be_switched_off() {
        let all = three_asked();
        let weighed = all.best(3);
        assert_eq!(order(&all), [0, 1, 2]);
        for weighed in &weighed {
            let sum: f64 = weighed.shares.told().iter().map(|(_, share)| share).sum();
            assert!((sum - weighed.score).abs() < 1e-9, "{weighed:?}");
        }
        let mut seen: Vec<_> =
            weighed.iter().flat_map(|it| it.shares.told()).map(|(feature, _)| feature).collect();
        seen.sort_by_key(|feature| feature.as_str());
        seen.dedup();
        let guessed = [Feature::Statement, Feature::Passage];
        assert_eq!(seen.len(), Feature::OF_MEMORIES.len() + guessed.len());
        for feature in Feature::OF_MEMORIES.into_iter().chain(guessed) {
            let left = Candidates { without: vec![feature], ..three_asked() }.best(3);
            let mut left = left.iter().flat_map(|weighed| weighed.shares.told());
            assert!(left.all(|(it, _)| it != feature), "{feature:?}");
        }
        let meaningless = Candidates { without: vec![Feature::Meaning], ..three() }.best(3);
        assert!(
            meaningless.iter().flat_map(|it| it.shares.told()).all(|it| it.0 != Feature::Alike)
        );
    }

    #[test]
    fn words_alone_rank_as_bm25_does() {
        let by_words = Candidates {
            words: Some(words(&[1, 3, 0])),
            cosines: None,
            moved: None,
            pieces: None,
            ..three()
        };
        assert_eq!(order(&by_words), [1, 0, 2]);
    }

    #[test]
    fn pieces_of_long_texts_tell_little() {
        let of = |pieces| {
            let all = three();
            let near = Some(vec![Some(like(0.3, pieces)), Some(like(0.9, pieces)), None]);
            Candidates { pieces: near, moved: None, ..all }
        };
        assert_eq!(order(&of(8))[0], 1);
        assert_eq!(order(&of(800))[0], 0);
    }

    #[test]
    fn mere_membership_stays_behind_what_words_find_well() {
        let all = three();
        let bare = Candidates { entities: vec![0.0, 0.0, 0.32], ..three() };
        let score = |candidates: &Candidates, place| {
            candidates.best(3).iter().find(|it| it.place == place).unwrap().score
        };
        assert!(score(&bare, 2) < score(&bare, 1) / 2.0);
        let lifted = Candidates { entities: vec![0.0, 0.8, 0.0], ..three() };
        assert!(score(&lifted, 1) > score(&all, 1) + 0.4, "what is about the entity rises");
    }

    #[test]
    fn a_query_moves_half_way_to_what_it_found() {
        let moved = towards(&[1.0, 0.0], [vec![0.0, 1.0], vec![0.0, 1.0]].into_iter()).unwrap();
        let length = 1.25_f32.sqrt();
        assert!((moved[0] - 1.0 / length).abs() < 1e-6 && (moved[1] - 0.5 / length).abs() < 1e-6);
        assert_eq!(towards(&[1.0, 0.0], std::iter::empty()), None);
        let other_model = std::iter::once(vec![1.0]);
        assert_eq!(towards(&[1.0, 0.0], other_model), None);
    }
}
