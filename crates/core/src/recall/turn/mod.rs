//! Turns: found by their words and their meaning, then weighed together with who said them, when,
//! and what was said around them.

mod clue;
mod dates;
mod latest;
mod rank;
mod sign;
mod spoken;
mod window;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use uuid::Uuid;

pub(super) use clue::Clue;
pub(super) use dates::Days;
use rank::{Candidates, Ranked};
pub use spoken::Spoken;
use window::{REACH, WIDE};

use super::search::{QueryVector, Quest};
use super::times::Times;
use super::{
    FOUND_PER_TECHNIQUE, Feature, Found, Hit, ItemKind, Part, SearchFilter, Technique,
    TechniqueReport, WordEvidence, fuse,
};
use crate::Mnemic;
use crate::conversation::Turn;
use crate::error::Result;
use crate::ids::TurnId;
use crate::principal::Scope;
use crate::store::PieceLikeness;

/// How many of the turns that were found by words and by meaning are weighed, with those around
/// them, and how many where one of the two does not serve.
const SEEDS: usize = 60;
const SEEDS_OF_ONE: usize = 120;
/// How many of those found by words are read while the question is still being embedded. Nearly all
/// of them are among the seeds then.
const SEEDS_AHEAD: usize = 30;
/// Around how many of the best the whole of the widest window is read where words alone serve: what
/// has none of the words and stands a little further off would not be found at all.
const SEEDS_WIDE: usize = 10;
/// How many more each technique brings of each stretch of days that a question names.
const DATED_MAX: usize = 50;
/// How many more come of what a guess finds.
const GUESSED_MAX: usize = 60;
/// How many of these, the best by everything else, are weighed by their pieces.
const WEIGHED_BY_PIECES: usize = 30;
/// How many speakers a question is searched for.
const SPEAKERS_MAX: usize = 500;

/// A turn that was found.
#[derive(Debug, Clone)]
pub struct RecalledTurn {
    pub turn: Turn,
    pub score: f64,
    /// Only if asked to explain.
    pub why: Option<WhyTurn>,
}

/// Why a turn was returned at its place.
#[derive(Debug, Clone)]
pub struct WhyTurn {
    pub found_by: Vec<Found>,
    /// What each feature added to the score or took from it.
    pub shares: Vec<(Feature, f64)>,
}

/// What was found of turns, and what could not serve.
pub(super) struct Turns {
    pub found: Vec<RecalledTurn>,
    /// How sure it is that the answer is in a turn at all.
    pub confidence: f64,
    pub degraded: Vec<String>,
    /// How each technique did.
    pub reports: Vec<TechniqueReport>,
}

/// What each technique found; nothing for one that was not asked or did not serve.
struct Seeds {
    words: Option<Vec<Hit>>,
    vectors: Option<Vec<Hit>>,
}

/// Turns that were read with those around them before everything was found.
#[derive(Default)]
struct Ahead {
    ids: Vec<TurnId>,
    turns: Vec<Arc<Spoken>>,
}

impl Seeds {
    /// The best of what was found.
    fn best(&self) -> Vec<TurnId> {
        let both = self.words.is_some() && self.vectors.is_some();
        let count = if both { SEEDS } else { SEEDS_OF_ONE };
        fuse::fuse(&self.lists()).iter().take(count).map(|fused| TurnId(fused.id)).collect()
    }

    fn lists(&self) -> [(Technique, &[Hit]); 2] {
        let words = self.words.as_deref().unwrap_or_default();
        let vectors = self.vectors.as_deref().unwrap_or_default();
        [(Technique::Words, words), (Technique::Vectors, vectors)]
    }

    /// How those did that served.
    fn reports(&self, words: Duration, vectors: Duration) -> Vec<TechniqueReport> {
        let report = |technique, hits: &Option<Vec<Hit>>, took| {
            hits.as_ref().map(|hits| TechniqueReport { technique, took, hits: hits.len() })
        };
        let words = report(Technique::Words, &self.words, words);
        words.into_iter().chain(report(Technique::Vectors, &self.vectors, vectors)).collect()
    }

    /// The question as the model sees it, where its meaning served.
    fn query<'q>(&self, quest: &'q Quest) -> Option<&'q QueryVector> {
        quest.vector.get().filter(|_| self.vectors.is_some())
    }
}

impl Quest {
    pub(super) fn seeks_turns(&self, technique: Technique) -> bool {
        self.request.includes(Part::Turns) && self.request.wants(technique)
    }

    /// Turns have no kind of memory and no domain. Those of the conversation that asks are
    /// searched if it is named, and otherwise all that the channel has.
    fn turn_filter(&self) -> SearchFilter {
        SearchFilter {
            kind: None,
            topic: self.request.conversation_id.clone(),
            ..self.filter.clone()
        }
    }
}

impl Mnemic {
    /// What the question gives away.
    pub(super) async fn clue(&self, scope: Scope, query: &str, times: &Times) -> Result<Clue> {
        let speakers = self.store.list_speakers(scope, SPEAKERS_MAX).await?;
        Ok(Clue::of(query, &speakers).with(times.clone()))
    }

    /// Nothing, where turns were not asked for, or only of what entities lead to.
    pub(super) async fn by_turns(&self, quest: &Quest) -> Option<Result<Turns>> {
        let clue = quest.clue.as_ref()?;
        let seeks = |technique| quest.seeks_turns(technique);
        if clue.only_speaker && (seeks(Technique::Words) || seeks(Technique::Vectors)) {
            return Some(self.latest_said(quest, clue).await);
        }
        let filter = quest.turn_filter();
        let words = timed(self.turns_by_words_ahead(quest, clue, &filter));
        let near = timed(self.turns_near(quest, &filter));
        // Words first: the question is being embedded elsewhere meanwhile.
        let (((words, ahead), words_took), (near, near_took)) = tokio::join!(biased; words, near);
        if words.is_none() && near.is_none() {
            return None;
        }
        let mut failures = Vec::new();
        let mut served = |hits: Option<Result<Vec<Hit>>>| match hits {
            Some(Ok(hits)) => Some(hits),
            Some(Err(e)) => {
                failures.push(e);
                None
            }
            None => None,
        };
        let (words, vectors) = (served(words), served(near));
        if words.is_none() && vectors.is_none() {
            return failures.into_iter().next().map(Err);
        }
        let degraded = failures.iter().map(|e| format!("turns: {e}")).collect();
        let seeds = Seeds { words, vectors };
        let reports = seeds.reports(words_took, near_took);
        let found = Box::pin(self.weigh_turns(quest, clue, &seeds, ahead)).await;
        Some(found.map(|(found, confidence)| Turns { found, confidence, degraded, reports }))
    }

    /// What words find, and the turns around the best of it: the question is being embedded
    /// meanwhile, and takes longer.
    async fn turns_by_words_ahead(
        &self,
        quest: &Quest,
        clue: &Clue,
        filter: &SearchFilter,
    ) -> (Option<Result<Vec<Hit>>>, Ahead) {
        let words = self.turns_by_words(quest, clue, filter).await;
        let Some(Ok(hits)) = &words else { return (words, Ahead::default()) };
        let ids: Vec<_> = hits.iter().take(SEEDS_AHEAD).map(|hit| TurnId(hit.id)).collect();
        // What cannot be read now is read, or fails, with the others.
        let turns = self.store.said_around(quest.scope, &ids, as_reach(REACH)).await;
        let ahead = turns.map_or_else(|_| Ahead::default(), |turns| Ahead { ids, turns });
        (words, ahead)
    }

    async fn turns_by_words(
        &self,
        quest: &Quest,
        clue: &Clue,
        filter: &SearchFilter,
    ) -> Option<Result<Vec<Hit>>> {
        if !quest.seeks_turns(Technique::Words) {
            return None;
        }
        let (scope, kind) = (quest.scope, ItemKind::Turn);
        let hits = self.store.search_words(scope, kind, &clue.words, filter, FOUND_PER_TECHNIQUE);
        Some(hits.await)
    }

    async fn turns_near(&self, quest: &Quest, filter: &SearchFilter) -> Option<Result<Vec<Hit>>> {
        if !quest.seeks_turns(Technique::Vectors) {
            return None;
        }
        let query = match self.query_vector(quest).await {
            Ok(query) => query,
            Err(e) => return Some(Err(e)),
        };
        let (scope, kind) = (quest.scope, ItemKind::Turn);
        let (stamp, vector) = (query.embedder.stamp(), &query.of_turns);
        let hits =
            self.store.search_vectors(scope, kind, stamp, vector, filter, FOUND_PER_TECHNIQUE);
        Some(hits.await)
    }

    /// Weighs what was found, and what stands around it; best first.
    async fn weigh_turns(
        &self,
        quest: &Quest,
        clue: &Clue,
        seeds: &Seeds,
        ahead: Ahead,
    ) -> Result<(Vec<RecalledTurn>, f64)> {
        let turns = self.turn_candidates(quest, clue, seeds, ahead).await?;
        let ids: Vec<Uuid> = turns.iter().map(|turn| turn.id.0).collect();
        let (words, cosines) = tokio::try_join!(
            self.evidence(quest, &clue.words, seeds, &ids),
            self.cosines(quest, seeds, &ids)
        )?;
        let places = window::places(&turns);
        let mut candidates = Candidates {
            turns: &turns,
            places: &places,
            words: words.as_ref(),
            cosines: cosines.as_deref(),
            pieces: None,
            without: &quest.request.without,
        };
        let mut ranked = rank::rank(clue, &candidates);
        if quest.guess.is_some() {
            let guessed = self.guessed(quest, ItemKind::Turn, seeds.query(quest), &ids).await?;
            ranked = rank::with_guess(ranked, &guessed, &candidates);
        }
        let pieces = self.pieces(quest, seeds, &candidates, &ranked).await?;
        if let Some(pieces) = &pieces {
            candidates.pieces = Some(pieces);
            ranked = rank::refine(ranked, &candidates);
        }
        let best = rank::best_of(&candidates);
        ranked.retain(|ranked| passes(quest, &turns[ranked.place]));
        let left = quest.times.left_of(&clue.words);
        let besides = match &left {
            Some(left) => self.evidence(quest, &left.words, seeds, &ids).await?,
            None => None,
        };
        let spared = left.map_or(0, |left| left.spared);
        let asked = (besides.as_ref().or(words.as_ref()), spared);
        let signs = if clue.only_time {
            sign::signs_of_time(clue, &candidates, &ranked)
        } else {
            sign::signs(clue, &candidates, asked, &ranked)
        };
        let best_ranked = spread(ranked, &turns, quest.limit).into_iter();
        let recalled = best_ranked.map(|ranked| {
            let id = turns[ranked.place].id;
            let why = quest.request.explain.then(|| WhyTurn {
                found_by: fuse::found_by(&seeds.lists(), id.0),
                shares: ranked.shares(&candidates),
            });
            (id, ranked.score / best, why)
        });
        let confidence = signs.map_or(0.0, |signs| signs.confidence());
        Ok((self.whole(quest.scope, recalled.collect()).await?, confidence))
    }

    /// What was found as it is told. One may have been deleted since.
    async fn whole(
        &self,
        scope: Scope,
        found: Vec<(TurnId, f64, Option<WhyTurn>)>,
    ) -> Result<Vec<RecalledTurn>> {
        let ids: Vec<_> = found.iter().map(|(id, ..)| *id).collect();
        let turns = self.store.lookup_turns(scope, &ids).await?;
        let mut turns: HashMap<_, _> = turns.into_iter().map(|turn| (turn.id, turn)).collect();
        let whole = |(id, score, why)| Some(RecalledTurn { turn: turns.remove(&id)?, score, why });
        Ok(found.into_iter().filter_map(whole).collect())
    }

    /// The best of what was found, what was said when the question says, and what stands around both.
    async fn turn_candidates(
        &self,
        quest: &Quest,
        clue: &Clue,
        seeds: &Seeds,
        ahead: Ahead,
    ) -> Result<Vec<Arc<Spoken>>> {
        let mut ids = seeds.best();
        let first: Vec<_> = ids.iter().take(SEEDS_WIDE).copied().collect();
        ids.retain(|id| !ahead.ids.contains(id));
        let mut turns = ahead.turns;
        turns.extend(self.store.said_around(quest.scope, &ids, as_reach(REACH)).await?);
        if seeds.vectors.is_none() {
            turns.extend(self.wide_around(quest, &first).await?);
        }
        let mut more = self.dated(quest, clue, turns.iter().map(|turn| turn.at)).await?;
        more.extend(self.turns_by_guess(quest, seeds).await);
        if !more.is_empty() {
            let found: HashSet<_> = turns.iter().map(|turn| turn.id).collect();
            more.retain(|id| !found.contains(id));
            turns.extend(self.store.said_around(quest.scope, &more, as_reach(REACH)).await?);
        }
        turns.sort_by(|a, b| {
            a.conversation_id.cmp(&b.conversation_id).then_with(|| a.index.cmp(&b.index))
        });
        turns.dedup_by_key(|turn| turn.id);
        Ok(turns)
    }

    /// Some turns, and what stands in their widest windows.
    async fn wide_around(&self, quest: &Quest, some: &[TurnId]) -> Result<Vec<Arc<Spoken>>> {
        let turns = self.store.said_around(quest.scope, some, as_reach(WIDE)).await?;
        let places = window::places(&turns);
        let theirs = turns.iter().zip(&places).filter(|(turn, _)| some.contains(&turn.id));
        let sessions: HashSet<_> = theirs.map(|(_, place)| place.session).collect();
        let within = turns.into_iter().zip(places).filter(|it| sessions.contains(&it.1.session));
        Ok(within.map(|(turn, _)| turn).collect())
    }

    /// The best of what was said on the days that the question names; where it names no year, in
    /// those of what was found already.
    async fn dated(
        &self,
        quest: &Quest,
        clue: &Clue,
        moments: impl Iterator<Item = Timestamp>,
    ) -> Result<Vec<TurnId>> {
        let mut found = Vec::new();
        for stretch in clue.dates.stretches(moments) {
            let filter = quest.turn_filter().within(stretch);
            let words = self.turns_by_words(quest, clue, &filter);
            let near = self.turns_near(quest, &filter);
            let (words, near) = tokio::join!(words, near);
            // What one of them lacks is told where all turns are searched.
            let hits = [words, near].into_iter().flatten().filter_map(Result::ok);
            let best = hits.flat_map(|hits| hits.into_iter().take(DATED_MAX));
            found.extend(best.map(|hit| TurnId(hit.id)));
        }
        Ok(found)
    }

    /// The best of what a guess finds.
    async fn turns_by_guess(&self, quest: &Quest, seeds: &Seeds) -> Vec<TurnId> {
        let (kind, filter) = (ItemKind::Turn, quest.turn_filter());
        let found = self.found_by_guess(quest, kind, seeds.query(quest), &filter).await;
        found.into_iter().take(GUESSED_MAX).map(TurnId).collect()
    }

    async fn evidence(
        &self,
        quest: &Quest,
        words: &str,
        seeds: &Seeds,
        ids: &[Uuid],
    ) -> Result<Option<WordEvidence>> {
        if seeds.words.is_none() {
            return Ok(None);
        }
        let words = self.store.word_evidence(quest.scope, ItemKind::Turn, words, ids).await?;
        // What is asked of a talk is short: a word that it has twice is there by grammar.
        Ok(Some(WordEvidence { asked: vec![], ..words }))
    }

    async fn cosines(
        &self,
        quest: &Quest,
        seeds: &Seeds,
        ids: &[Uuid],
    ) -> Result<Option<Vec<Option<f32>>>> {
        let Some(query) = seeds.query(quest) else { return Ok(None) };
        let (stamp, vector) = (query.embedder.stamp(), &query.of_turns);
        self.store.cosines(quest.scope, ItemKind::Turn, stamp, vector, ids).await.map(Some)
    }

    /// How near the question's pieces come to those of the best turns and of what is around them;
    /// nothing, where none has pieces.
    async fn pieces(
        &self,
        quest: &Quest,
        seeds: &Seeds,
        candidates: &Candidates<'_>,
        ranked: &[Ranked],
    ) -> Result<Option<Vec<Option<PieceLikeness>>>> {
        let query = seeds.query(quest).filter(|query| !query.pieces.is_empty());
        let Some(query) = query else { return Ok(None) };
        let best = ranked.iter().take(WEIGHED_BY_PIECES).map(|ranked| ranked.place);
        let (turns, places) = (candidates.turns, window::around(candidates.places, best));
        let ids: Vec<_> = places.iter().map(|place| turns[*place].id.0).collect();
        let (kind, stamp) = (ItemKind::Turn, query.embedder.stamp());
        let likeness = self.store.piece_likeness(quest.scope, kind, stamp, &query.pieces, &ids);
        let found = likeness.await?;
        if found.iter().all(Option::is_none) {
            return Ok(None);
        }
        let mut pieces = vec![None; turns.len()];
        for (place, likeness) in places.into_iter().zip(found) {
            pieces[place] = likeness;
        }
        Ok(Some(pieces))
    }
}

/// What comes of something, and how long it takes.
async fn timed<T>(task: impl Future<Output = T>) -> (T, Duration) {
    let started = Instant::now();
    (task.await, started.elapsed())
}

fn as_reach(turns: usize) -> i64 {
    i64::try_from(turns).unwrap_or(i64::MAX)
}

/// Neighbours of what was found have not been through the filter. What they share with it, their
/// conversation and their channel, needs no look; their time does.
fn passes(quest: &Quest, turn: &Spoken) -> bool {
    let filter = &quest.filter;
    filter.since.is_none_or(|since| turn.at >= since)
        && filter.until.is_none_or(|until| turn.at < until)
        && filter.as_of.is_none_or(|as_of| turn.at <= as_of)
        && filter.known_at.is_none_or(|known_at| turn.at <= known_at)
}

/// One conversation does not take the whole answer while others have something to say: what it has
/// beyond its share goes behind what the others have, as long as there is room for those.
fn spread(ranked: Vec<Ranked>, turns: &[Arc<Spoken>], limit: usize) -> Vec<Ranked> {
    let cap = (4 * limit).div_ceil(5).max(3);
    let mut taken: HashMap<&str, usize> = HashMap::new();
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for ranked in ranked {
        let count = taken.entry(&turns[ranked.place].conversation_id).or_default();
        *count += 1;
        if *count <= cap {
            first.push(ranked);
        } else {
            rest.push(ranked);
        }
        if first.len() == limit {
            break;
        }
    }
    let room = limit - first.len();
    first.extend(rest.into_iter().take(room));
    first.sort_by(|a, b| b.score.total_cmp(&a.score));
    first
}
