//! Recall: words, meaning and what the query is about are searched at the same time, fused, weighed
//! and explained.
//!
//! What must not be seen is filtered before ranking, never after the cut; a technique that is
//! missing or fails is named in the answer and the others serve.

mod beside;
mod confidence;
mod entity;
mod evidence;
mod expand;
mod feature;
mod filter;
mod fit;
mod further;
pub(crate) mod fuse;
mod guess;
mod item;
mod names;
mod piece;
mod prepare;
mod quest;
mod rest;
mod search;
mod times;
mod turn;
mod weigh;
pub mod weights;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Mnemic;
use crate::audit::Reading;
use crate::conversation::ConversationId;
use crate::error::{Error, Result};
use crate::goal::Goal;
use crate::grant::Readable;
use crate::ids::MemoryId;
use crate::memory::{GLOBAL_CHANNEL, Kind, Memory, Temporal};
use crate::pattern::ShownPattern;
use crate::policy::Policy;
use crate::principal::{Action, Operation, Principal};
use crate::profile::UserProfile;
use crate::strategy::StrategyHit;
use crate::text::{QUERY_BYTES_MAX, check_content, check_optional_name};

use beside::Beside;
pub use entity::{Entity, Matched, Neighbour, Sight, Through};
pub use evidence::{Occurrences, WordEvidence};
pub use feature::Feature;
pub use filter::SearchFilter;
pub use fuse::{FOUND_PER_TECHNIQUE, Factors, Found};
pub use guess::Guess;
pub use item::ItemKind;
pub(crate) use search::QueryVector;
use search::{Quest, Searches};
pub use turn::{RecalledTurn, Spoken, WhyTurn};

pub const LIMIT_DEFAULT: usize = 10;
pub const LIMIT_MAX: usize = 100;

/// What a search returns: a record and its score, greater being better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    pub id: Uuid,
    pub score: f32,
}

/// The ways of finding something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Technique {
    Words,
    Vectors,
    /// What the query names or means, and what is told of it.
    Entities,
}

/// The parts of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Memories,
    Turns,
    Entities,
    /// Ways that worked before.
    Strategies,
    /// Active goals.
    Goals,
    /// Rules that apply.
    Policies,
    /// What tends to happen when agents act on what the query is about.
    Patterns,
}

impl Technique {
    pub const ALL: [Self; 3] = [Self::Words, Self::Vectors, Self::Entities];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Vectors => "vectors",
            Self::Entities => "entities",
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct RecallRequest {
    pub query: String,
    pub limit: Option<usize>,
    /// Searched together with `_global`; absent, every channel is.
    pub channel: Option<String>,
    /// The conversation that asks: its own turns are searched, and no others. What is recalled in
    /// several concerns more than one.
    pub conversation_id: Option<String>,
    /// The user that is served: what is known of them is told. The token's own, if absent.
    pub user_id: Option<String>,
    pub kind: Option<Kind>,
    /// Only what was recorded in this window.
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// As it was in the world at this moment.
    pub as_of: Option<Timestamp>,
    /// As far as we knew at this moment.
    pub known_at: Option<Timestamp>,
    /// Which parts of the answer; absent, all of them.
    pub include: Option<Vec<Part>>,
    /// Absent, all of them.
    pub techniques: Option<Vec<Technique>>,
    /// What turns and memories are not weighed by: to see what a feature is good for.
    pub without: Vec<Feature>,
    /// Whether a language model is asked first what to look for; absent, as the workspace's
    /// `recall.expand` says.
    pub expand: Option<bool>,
    pub explain: bool,
}

#[derive(Debug, Clone)]
pub struct Bundle {
    /// Memories, best first. Together with the turns they are as many as were asked for, and
    /// scores of both compare.
    pub items: Vec<Recalled>,
    /// Best first.
    pub turns: Vec<RecalledTurn>,
    /// What the query is about: what it names first, then what it means.
    pub entities: Vec<Entity>,
    /// Ways that worked before, best first.
    pub strategies: Vec<StrategyHit>,
    /// Active goals, those of the highest priority first.
    pub goals: Vec<Goal>,
    /// Rules that apply, best first.
    pub policies: Vec<Policy>,
    /// What is known of the user that is served.
    pub user: Option<UserProfile>,
    /// What tends to happen: failures first, then by confidence.
    pub patterns: Vec<ShownPattern>,
    /// How sure it is, 0 to 1, that the answer is in memory at all: the greater of what memories and
    /// turns tell. 0 where there is nothing, or neither was asked for.
    pub confidence: f64,
    /// What could not serve, and why.
    pub degraded: Vec<String>,
    /// How each technique did with memories; only if asked to explain.
    pub techniques: Vec<TechniqueReport>,
    /// The same with turns; empty where they were not searched.
    pub turn_techniques: Vec<TechniqueReport>,
    /// The stretches of time that the question asks about, seen from when it is asked; only if asked
    /// to explain.
    pub times: Vec<(Timestamp, Timestamp)>,
    /// What a language model made of the question; only if asked to explain.
    pub guess: Option<Guess>,
    pub took: Duration,
}

#[derive(Debug, Clone)]
pub struct Recalled {
    pub memory: Memory,
    pub temporal: Option<Temporal>,
    pub score: f64,
    /// Only if asked to explain.
    pub why: Option<Why>,
}

/// Why an item was returned at its place.
#[derive(Debug, Clone)]
pub struct Why {
    pub found_by: Vec<Found>,
    pub matched_words: Vec<String>,
    /// What each feature added to its relevance or took from it.
    pub shares: Vec<(Feature, f64)>,
    pub factors: Factors,
}

#[derive(Debug, Clone)]
pub struct TechniqueReport {
    pub technique: Technique,
    pub took: Duration,
    pub hits: usize,
}

impl RecallRequest {
    fn conversation(&self) -> Result<Option<ConversationId>> {
        self.conversation_id.as_deref().map(str::parse).transpose()
    }

    fn check(&self) -> Result<()> {
        check_content("query", &self.query, QUERY_BYTES_MAX)?;
        check_optional_name("channel", self.channel.as_deref())?;
        check_optional_name("user_id", self.user_id.as_deref())?;
        self.conversation()?;
        if self.techniques.as_ref().is_some_and(Vec::is_empty) {
            let problem = "must name at least one of words, vectors, entities";
            return Err(Error::invalid("techniques", problem));
        }
        if self.include.as_ref().is_some_and(Vec::is_empty) {
            let problem = "must name at least one of memories, turns, entities, strategies, goals, policies, \
                 patterns";
            return Err(Error::invalid("include", problem));
        }
        let sought = [Part::Memories, Part::Turns, Part::Entities];
        let sought = sought.into_iter().filter(|part| self.includes(*part));
        if sought.eq([Part::Entities]) && !self.wants(Technique::Entities) {
            let problem = "must have entities where nothing else is to be included";
            return Err(Error::invalid("techniques", problem));
        }
        match (self.since, self.until) {
            (Some(since), Some(until)) if until <= since => {
                Err(Error::invalid("until", "must be later than since"))
            }
            _ => Ok(()),
        }
    }

    fn wants(&self, technique: Technique) -> bool {
        self.techniques.as_ref().is_none_or(|wanted| wanted.contains(&technique))
    }

    fn includes(&self, part: Part) -> bool {
        self.include.as_ref().is_none_or(|wanted| wanted.contains(&part))
    }

    fn includes_memories(&self) -> bool {
        self.includes(Part::Memories)
    }

    fn filter(&self, readable: Readable) -> SearchFilter {
        let channels = self.channel.as_ref().map(|channel| {
            let mut channels = vec![channel.clone()];
            if channel != GLOBAL_CHANNEL {
                channels.push(GLOBAL_CHANNEL.to_owned());
            }
            channels
        });
        SearchFilter {
            channels,
            kind: self.kind,
            since: self.since,
            until: self.until,
            as_of: self.as_of,
            known_at: self.known_at,
            readable,
            ..SearchFilter::default()
        }
    }
}

static RECALL: Operation = Operation::new("recall", Action::ReadMemories);

impl Mnemic {
    pub async fn recall(&self, principal: &Principal, request: &RecallRequest) -> Result<Bundle> {
        self.authorize(principal, &RECALL)?;
        request.check()?;
        self.recall_in(principal, request, request.conversation()?).await
    }

    /// Recalls for a conversation that may be another than the one whose turns are searched.
    pub(crate) async fn recall_in(
        &self,
        principal: &Principal,
        request: &RecallRequest,
        asked_in: Option<ConversationId>,
    ) -> Result<Bundle> {
        let started = Instant::now();
        let quest = Arc::new(self.quest(principal, request, asked_in).await?);
        let limit = quest.limit;
        // All that is looked for at once takes a lot of room, which whoever recalls would carry along.
        let search::Found { memories, mut turns, beside } = Box::pin(self.search_all(&quest)).await;
        let search::Memories { mut searches, weighed, patterns } = memories;
        // When nothing served, the caller gets the reason as an error, not an empty answer.
        if let Some(failure) = searches.take_failure(&mut turns) {
            return Err(failure);
        }
        let (mut items, confidence) = weighed?;
        self.conceal(principal, items.iter_mut().map(|item| &mut item.memory).collect()).await?;
        if request.explain {
            self.explain(&quest, &searches, &mut items).await?;
        }
        let heard = turns.as_ref().and_then(|turns| turns.as_ref().ok());
        let turn_techniques = heard.map(|turns| turns.reports.clone()).unwrap_or_default();
        let (mut turns, confidence_in_turns) = searches.settle_turns(turns);
        cut(&mut items, &mut turns, limit);
        let beside = Beside::new(beside, patterns, &request.query, &items);
        if !request.includes(Part::Entities) {
            searches.entities.clear();
        }
        searches.partly.extend(beside.degraded.into_iter().chain(quest.unguessed.clone()));
        self.note_recalled(&quest, &items, &turns, &searches.entities);
        let took = started.elapsed();
        metrics::histogram!("mnemic_recall_seconds").record(took.as_secs_f64());
        Ok(Bundle {
            items,
            turns,
            confidence: confidence.max(confidence_in_turns),
            degraded: self.degraded(principal, request, &searches),
            techniques: if request.explain { reports(&searches) } else { vec![] },
            turn_techniques: if request.explain { turn_techniques } else { vec![] },
            times: if request.explain { quest.times.stretches().to_vec() } else { vec![] },
            guess: quest.guess.clone().filter(|_| request.explain),
            entities: searches.entities,
            strategies: beside.strategies,
            goals: beside.goals,
            policies: beside.policies,
            user: beside.user,
            patterns: beside.patterns,
            took,
        })
    }

    /// Counts what was returned and tells the audit of it.
    fn note_recalled(
        &self,
        quest: &Quest,
        items: &[Recalled],
        turns: &[RecalledTurn],
        entities: &[Entity],
    ) {
        let Quest { principal, request, .. } = quest;
        let scope = quest.scope;
        let conversation = quest.asked_in.as_ref().map(ConversationId::as_str);
        self.reinforce.note(scope, conversation, items.iter().map(|item| item.memory.id));
        self.reinforce.note_nodes(scope, entities.iter().map(|entity| entity.node.id));
        let memories = items.iter().map(|item| item.memory.found());
        let turns = turns.iter().map(|it| (it.turn.id.0, it.turn.channel.as_str()));
        let reading = Reading {
            channel: request.channel.as_deref(),
            conversation,
            query: Some(&request.query),
            found: memories.chain(turns).chain(entities.iter().flat_map(Entity::found)).collect(),
        };
        self.note_read(principal, &RECALL, &reading, quest.now);
    }

    /// What could not serve, and what could not serve in full.
    fn degraded(
        &self,
        principal: &Principal,
        request: &RecallRequest,
        searches: &Searches,
    ) -> Vec<String> {
        let said = |search: &search::Search| {
            let failure = search.failure.as_ref()?;
            Some(format!("{}: {failure}", search.technique.as_str()))
        };
        let mut degraded: Vec<_> = searches.done.iter().filter_map(said).collect();
        degraded.extend(searches.partly.iter().cloned());
        let waiting = self.fill.waiting_in(principal.scope());
        if degraded.is_empty() && waiting > 0 && request.wants(Technique::Vectors) {
            // How many would count what the caller may not see.
            let many = if principal.access.readable().is_everything() {
                format!("{waiting} texts")
            } else {
                "some texts".to_owned()
            };
            degraded.push(format!("vectors: {many} are still being embedded"));
        }
        degraded
    }

    /// The best memories, and how sure it is that the answer is among them at all.
    async fn weigh(&self, quest: &Quest, searches: &Searches) -> Result<(Vec<Recalled>, f64)> {
        let Quest { principal, request, .. } = quest;
        let (scope, limit, now) = (quest.scope, quest.limit, quest.now);
        let candidates = self.memory_candidates(quest, searches).await?;
        // Twice as many as wanted are read, since what they are themselves can change the order.
        let weighed = candidates.best(fuse::weighed_count(limit));
        let signs = candidates.signs(&weighed);
        let best = weighed.first().map_or(0.0, |first| first.score);
        let ids: Vec<_> = weighed.iter().map(|it| MemoryId(candidates.ids[it.place])).collect();
        let (memories, fits) = tokio::try_join!(
            self.store.lookup_memories(scope, &ids),
            self.fits(quest, &searches.entities, &candidates, &weighed)
        )?;
        let mut memories: HashMap<_, _> = memories.into_iter().map(|it| (it.id, it)).collect();
        let found = ids.iter().zip(weighed).zip(fits).filter_map(|((id, it), fit)| {
            let memory = memories.remove(id)?;
            // One may have been deleted, or moved to another domain, since it was found.
            let there = memory.deleted_at.is_none() && principal.may_read(&memory);
            there.then(|| {
                let temporal = memory.tense(now);
                let relevance = if best > 0.0 { it.score.max(0.0) / best } else { 1.0 };
                let guessed = quest.guess.as_ref().and_then(|guess| guess.kind);
                let factors = Factors::of(&memory, temporal, now, (relevance, fit));
                let factors = factors.with_guessed(guessed == Some(memory.kind));
                let why = request.explain.then(|| Why::new(it.shares.told(), factors));
                Recalled { memory, temporal, score: factors.product(), why }
            })
        });
        let mut items: Vec<_> = found.collect();
        // Of equal ones, the order is that of what they have to do with the query.
        items.sort_by(|a, b| b.score.total_cmp(&a.score));
        // A fact and its copy in another channel are one answer: the better placed.
        let mut told: HashMap<String, String> = HashMap::new();
        items.retain(|Recalled { memory: Memory { content, channel, .. }, .. }| {
            told.entry(content.clone()).or_insert_with(|| channel.clone()) == channel
        });
        items.truncate(limit);
        Ok((items, signs.map_or(0.0, |signs| signs.confidence())))
    }

    async fn explain(
        &self,
        quest: &Quest,
        searches: &Searches,
        items: &mut [Recalled],
    ) -> Result<()> {
        let ids: Vec<_> = items.iter().map(|item| item.memory.id.0).collect();
        let words = self.store.matched_words(quest.scope, &quest.sought, &ids).await?;
        for (item, matched_words) in items.iter_mut().zip(words) {
            if let Some(why) = &mut item.why {
                why.found_by = found_by(searches, item.memory.id.0);
                why.matched_words = matched_words;
            }
        }
        Ok(())
    }
}

impl Why {
    fn new(shares: Vec<(Feature, f64)>, factors: Factors) -> Self {
        Self { found_by: vec![], matched_words: vec![], shares, factors }
    }
}

/// Leaves the best of both, so many in all.
fn cut(items: &mut Vec<Recalled>, turns: &mut Vec<RecalledTurn>, limit: usize) {
    let (mut kept_items, mut kept_turns) = (0, 0);
    while kept_items + kept_turns < limit {
        match (items.get(kept_items), turns.get(kept_turns)) {
            (Some(item), Some(turn)) if item.score >= turn.score => kept_items += 1,
            (_, Some(_)) => kept_turns += 1,
            (Some(_), None) => kept_items += 1,
            (None, None) => break,
        }
    }
    items.truncate(kept_items);
    turns.truncate(kept_turns);
}

fn found_by(searches: &Searches, id: Uuid) -> Vec<Found> {
    let mut found = fuse::found_by(&searches.lists(), id);
    for found in &mut found {
        let mut through = searches.done.iter().filter(|it| it.technique == found.technique);
        let through = through.find_map(|search| search.through.get(&id));
        found.through = through.cloned().unwrap_or_default();
    }
    found
}

fn reports(searches: &Searches) -> Vec<TechniqueReport> {
    let report = |search: &search::Search| TechniqueReport {
        technique: search.technique,
        took: search.took,
        hits: search.hits.len(),
    };
    searches.done.iter().map(report).collect()
}
