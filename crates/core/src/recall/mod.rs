//! Recall: words and meaning are searched at the same time, fused, weighed and explained.
//!
//! What must not be seen is filtered before ranking, never after the cut; a technique that is
//! missing or fails is named in the answer and the others serve.

mod filter;
mod fuse;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Mnemic;
use crate::audit::Reading;
use crate::embed::{EmbedderState, Purpose};
use crate::error::{Error, Result};
use crate::grant::Readable;
use crate::ids::MemoryId;
use crate::memory::{GLOBAL_CHANNEL, Kind, Memory, Temporal};
use crate::page::check_limit;
use crate::principal::{Action, Operation, Principal, Scope};
use crate::text::{QUERY_BYTES_MAX, check_content, check_optional_name};

pub use filter::SearchFilter;
pub use fuse::{FOUND_PER_TECHNIQUE, Factors, Found};

pub const LIMIT_DEFAULT: usize = 10;
pub const LIMIT_MAX: usize = 100;
/// How long a recall waits for the vectors of what was written just before it.
const FRESHNESS_WAIT: Duration = Duration::from_millis(250);

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
}

impl Technique {
    pub const ALL: [Self; 2] = [Self::Words, Self::Vectors];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Vectors => "vectors",
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct RecallRequest {
    pub query: String,
    pub limit: Option<usize>,
    /// Searched together with `_global`; absent, every channel is.
    pub channel: Option<String>,
    /// The conversation that asks; what is recalled in several concerns more than one.
    pub conversation_id: Option<String>,
    pub kind: Option<Kind>,
    /// Only what was recorded in this window.
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// As it was in the world at this moment.
    pub as_of: Option<Timestamp>,
    /// As far as we knew at this moment.
    pub known_at: Option<Timestamp>,
    /// Absent, all of them.
    pub techniques: Option<Vec<Technique>>,
    pub explain: bool,
}

#[derive(Debug, Clone)]
pub struct Bundle {
    pub items: Vec<Recalled>,
    /// What could not serve, and why.
    pub degraded: Vec<String>,
    /// How each technique did; only if asked to explain.
    pub techniques: Vec<TechniqueReport>,
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
    pub factors: Factors,
}

#[derive(Debug, Clone)]
pub struct TechniqueReport {
    pub technique: Technique,
    pub took: Duration,
    pub hits: usize,
}

impl RecallRequest {
    fn check(&self) -> Result<()> {
        check_content("query", &self.query, QUERY_BYTES_MAX)?;
        check_optional_name("channel", self.channel.as_deref())?;
        check_optional_name("conversation_id", self.conversation_id.as_deref())?;
        if self.techniques.as_ref().is_some_and(Vec::is_empty) {
            return Err(Error::invalid("techniques", "must name at least one of words, vectors"));
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

/// What one technique brought.
struct Search {
    technique: Technique,
    hits: Vec<Hit>,
    took: Duration,
    degraded: Option<String>,
}

impl Search {
    fn done(technique: Technique, started: Instant, outcome: Result<Vec<Hit>>) -> Self {
        let (hits, degraded) = match outcome {
            Ok(hits) => (hits, None),
            Err(e) => {
                tracing::warn!(technique = technique.as_str(), error = %e, "recall goes on without");
                (vec![], Some(format!("{}: {e}", technique.as_str())))
            }
        };
        let took = started.elapsed();
        metrics::histogram!("mnemic_recall_technique_seconds", "technique" => technique.as_str())
            .record(took.as_secs_f64());
        Self { technique, hits, took, degraded }
    }
}

static RECALL: Operation = Operation::new("recall", Action::ReadMemories);

impl Mnemic {
    pub async fn recall(&self, principal: &Principal, request: &RecallRequest) -> Result<Bundle> {
        let (started, began) = (Instant::now(), self.clock.now());
        self.authorize(principal, &RECALL)?;
        request.check()?;
        let limit = check_limit(request.limit, LIMIT_DEFAULT, LIMIT_MAX)?;
        let (scope, filter) = (principal.scope(), request.filter(principal.access.readable()));
        let searches = self.search_all(scope, request, &filter).await;
        if searches.iter().all(|search| search.degraded.is_some()) {
            return Err(self.first_failure(scope, request, &filter).await);
        }
        let mut items = self.weigh(principal, &searches, limit).await?;
        self.conceal(principal, items.iter_mut().map(|(item, _)| &mut item.memory).collect())
            .await?;
        if request.explain {
            self.explain(scope, request, &searches, &mut items).await?;
        }
        let items: Vec<_> = items.into_iter().map(|(recalled, _)| recalled).collect();
        let conversation = request.conversation_id.as_deref();
        self.reinforce.note(scope, conversation, items.iter().map(|item| item.memory.id));
        let reading = Reading {
            channel: request.channel.as_deref(),
            conversation: request.conversation_id.as_deref(),
            query: Some(&request.query),
            found: items.iter().map(|item| &item.memory).collect(),
        };
        self.note_read(principal, &RECALL, &reading, began);
        let took = started.elapsed();
        metrics::histogram!("mnemic_recall_seconds").record(took.as_secs_f64());
        Ok(Bundle {
            items,
            degraded: self.degraded(principal, request, &searches),
            techniques: if request.explain { reports(&searches) } else { vec![] },
            took,
        })
    }

    /// What could not serve, and what could not serve in full.
    fn degraded(
        &self,
        principal: &Principal,
        request: &RecallRequest,
        searches: &[Search],
    ) -> Vec<String> {
        let mut degraded: Vec<_> =
            searches.iter().filter_map(|search| search.degraded.clone()).collect();
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

    async fn search_all(
        &self,
        scope: Scope,
        request: &RecallRequest,
        filter: &SearchFilter,
    ) -> Vec<Search> {
        let words = async {
            if !request.wants(Technique::Words) {
                return None;
            }
            let started = Instant::now();
            let hits =
                self.store.search_words(scope, &request.query, filter, FOUND_PER_TECHNIQUE).await;
            Some(Search::done(Technique::Words, started, hits))
        };
        let vectors = async {
            if !request.wants(Technique::Vectors) {
                return None;
            }
            let started = Instant::now();
            if let EmbedderState::Off = self.embedder.state() {
                // Switched off on purpose is not a fault, but the answer still says so.
                let degraded = Some("vectors: the embedding model is switched off".to_owned());
                let took = started.elapsed();
                return Some(Search {
                    technique: Technique::Vectors,
                    hits: vec![],
                    took,
                    degraded,
                });
            }
            let hits = self.nearest(scope, &request.query, filter).await;
            Some(Search::done(Technique::Vectors, started, hits))
        };
        // The first search of a workspace builds its index, and meanwhile a model that is being
        // loaded can arrive: then the first answer is complete, too.
        let (words, vectors) = if let EmbedderState::Loading(_) = self.embedder.state() {
            (words.await, vectors.await)
        } else {
            tokio::join!(words, vectors)
        };
        [words, vectors].into_iter().flatten().collect()
    }

    /// The query is embedded while the vectors of what was just written are completed.
    async fn nearest(&self, scope: Scope, query: &str, filter: &SearchFilter) -> Result<Vec<Hit>> {
        let embedder = self.embedder.require()?;
        let (vectors, ()) = tokio::join!(
            embedder.embed(vec![query.to_owned()], Purpose::Query),
            self.fill.settled(scope, FRESHNESS_WAIT),
        );
        let vector = vectors?.pop().ok_or_else(|| Error::internal("the model gave no vector"))?;
        let stamp = embedder.stamp();
        self.store.search_vectors(scope, stamp, &vector, filter, FOUND_PER_TECHNIQUE).await
    }

    /// When nothing served, the caller gets the reason as an error, not an empty answer.
    async fn first_failure(
        &self,
        scope: Scope,
        request: &RecallRequest,
        filter: &SearchFilter,
    ) -> Error {
        let outcome = if request.wants(Technique::Words) {
            self.store.search_words(scope, &request.query, filter, 1).await
        } else {
            self.nearest(scope, &request.query, filter).await
        };
        match outcome {
            Err(e) => e,
            Ok(_) => Error::new(crate::Code::StoreUnavailable, "search failed; try again"),
        }
    }

    async fn weigh(
        &self,
        principal: &Principal,
        searches: &[Search],
        limit: usize,
    ) -> Result<Vec<(Recalled, Factors)>> {
        let lists: Vec<_> = searches.iter().map(|s| (s.technique, s.hits.as_slice())).collect();
        let fused = fuse::fuse(&lists);
        // Twice as many as wanted are weighed, since weighing can change the order.
        let ids: Vec<_> =
            fused.iter().take(fuse::weighed_count(limit)).map(|f| MemoryId(f.id)).collect();
        let now = self.clock.now();
        let mut items: Vec<_> = self
            .store
            .lookup_memories(principal.scope(), &ids)
            .await?
            .into_iter()
            // One may have been deleted, or moved to another domain, since it was found.
            .filter(|memory| memory.deleted_at.is_none() && principal.may_read(memory))
            .filter_map(|memory| {
                let base = fused.iter().find(|f| f.id == memory.id.0)?.score;
                let temporal = memory.tense(now);
                let factors = Factors::of(&memory, temporal, now);
                let score = base * factors.product();
                Some((Recalled { memory, temporal, score, why: None }, factors))
            })
            .collect();
        items.sort_by(|(a, _), (b, _)| {
            b.score.total_cmp(&a.score).then_with(|| b.memory.id.cmp(&a.memory.id))
        });
        // A fact and its copy in another channel are one answer: the better placed.
        let mut told: HashMap<String, String> = HashMap::new();
        items.retain(|(Recalled { memory: Memory { content, channel, .. }, .. }, _)| {
            told.entry(content.clone()).or_insert_with(|| channel.clone()) == channel
        });
        items.truncate(limit);
        Ok(items)
    }

    async fn explain(
        &self,
        scope: Scope,
        request: &RecallRequest,
        searches: &[Search],
        items: &mut [(Recalled, Factors)],
    ) -> Result<()> {
        let ids: Vec<_> = items.iter().map(|(item, _)| item.memory.id.0).collect();
        let words = self.store.matched_words(scope, &request.query, &ids).await?;
        for ((item, factors), matched_words) in items.iter_mut().zip(words) {
            let lists: Vec<_> = searches.iter().map(|s| (s.technique, s.hits.as_slice())).collect();
            item.why = Some(Why {
                found_by: fuse::found_by(&lists, item.memory.id.0),
                matched_words,
                factors: *factors,
            });
        }
        Ok(())
    }
}

fn reports(searches: &[Search]) -> Vec<TechniqueReport> {
    let report =
        |s: &Search| TechniqueReport { technique: s.technique, took: s.took, hits: s.hits.len() };
    searches.iter().map(report).collect()
}
