//! The techniques, side by side: what each found, how long it took, and why it did not serve.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::sync::{OnceCell, oneshot};
use tokio::task::JoinSet;
use tracing::Instrument as _;
use uuid::Uuid;

use super::beside::Always;
use super::entity::{self, Entity, Sight, Through};
use super::guess::Guess;
use super::times::Times;
use super::turn::{Clue, RecalledTurn, Turns};
use super::{
    FOUND_PER_TECHNIQUE, Hit, ItemKind, RecallRequest, Recalled, SearchFilter, Technique, fuse,
};
use crate::Mnemic;
use crate::conversation::ConversationId;
use crate::embed::{Embedder, EmbedderState, Question, Seen, SeenQuestion};
use crate::error::{Error, Result};
use crate::ids::NodeId;
use crate::pattern::{Pattern, ShownPattern};
use crate::principal::{Principal, Scope};

/// How long a recall waits for the vectors of what was written just before it.
const FRESHNESS_WAIT: Duration = Duration::from_millis(250);

/// What is asked, by whom, and when. It owns all of that, since several threads go on it.
pub(super) struct Quest {
    pub principal: Principal,
    pub scope: Scope,
    pub request: RecallRequest,
    /// What of the query is searched for, and what memories are weighed by.
    pub sought: String,
    pub filter: SearchFilter,
    pub limit: usize,
    pub now: Timestamp,
    /// The conversation that it is asked in.
    pub asked_in: Option<ConversationId>,
    /// What it gives away beside its words, where turns are asked for.
    pub clue: Option<Clue>,
    /// The times that it asks about.
    pub times: Times,
    /// What a language model made of it, where that was wanted and came.
    pub guess: Option<Guess>,
    /// Why it is lacking where it was wanted.
    pub unguessed: Option<String>,
    /// The query as the model sees it, once somebody needed it.
    pub vector: OnceCell<QueryVector>,
    /// The same of the guessed passage.
    pub passage: OnceCell<Vec<f32>>,
}

impl Quest {
    pub(super) fn sight(&self) -> Sight<'_> {
        Sight { filter: &self.filter, now: self.now }
    }

    /// Whether a technique is to search for memories.
    fn seeks(&self, technique: Technique) -> bool {
        self.request.includes_memories() && self.request.wants(technique)
    }
}

/// The query as one model sees it.
pub(crate) struct QueryVector {
    pub embedder: Arc<dyn Embedder>,
    pub vector: Vec<f32>,
    /// Its pieces, where the model tells them.
    pub own_pieces: Vec<f32>,
    /// As turns are searched with: without the names of those who speak in them.
    pub of_turns: Vec<f32>,
    /// The pieces of that, where the model tells them.
    pub pieces: Vec<f32>,
}

/// What one technique brought.
pub(super) struct Search {
    pub technique: Technique,
    pub hits: Vec<Hit>,
    /// What led to a hit, where something did.
    pub through: HashMap<Uuid, Vec<Through>>,
    pub took: Duration,
    pub failure: Option<Error>,
}

impl Search {
    fn done(technique: Technique, started: Instant, outcome: Result<Vec<Hit>>) -> Self {
        let hits = match outcome {
            Ok(hits) => hits,
            Err(e) => {
                tracing::warn!(technique = technique.as_str(), error = %e, "recall goes on without");
                return Self::failed(technique, started, e);
            }
        };
        let took = started.elapsed();
        metrics::histogram!("mnemic_recall_technique_seconds", "technique" => technique.as_str())
            .record(took.as_secs_f64());
        Self { technique, hits, through: HashMap::new(), took, failure: None }
    }

    fn failed(technique: Technique, started: Instant, failure: Error) -> Self {
        let (hits, through) = (vec![], HashMap::new());
        Self { technique, hits, through, took: started.elapsed(), failure: Some(failure) }
    }
}

/// What all of them brought.
pub(super) struct Searches {
    pub done: Vec<Search>,
    pub entities: Vec<Entity>,
    /// What served in part only, and why.
    pub partly: Vec<String>,
}

impl Searches {
    /// What was said, and how sure it is that the answer is there; why it could not be searched is
    /// kept for the answer.
    pub(super) fn settle_turns(
        &mut self,
        turns: Option<Result<Turns>>,
    ) -> (Vec<RecalledTurn>, f64) {
        match turns {
            Some(Ok(turns)) => {
                // What memories lack for the same reason is said already.
                if self.done.iter().all(|search| search.failure.is_none()) {
                    self.partly.extend(turns.degraded);
                }
                (turns.found, turns.confidence)
            }
            Some(Err(e)) => {
                tracing::warn!(error = %e, "recall goes on without turns");
                self.partly.push(format!("turns: {e}"));
                (vec![], 0.0)
            }
            None => (vec![], 0.0),
        }
    }

    /// Whether a technique searched and did not fail.
    pub(super) fn served(&self, technique: Technique) -> bool {
        let mut of_it = self.done.iter().filter(|search| search.technique == technique);
        of_it.any(|search| search.failure.is_none())
    }

    pub(super) fn lists(&self) -> Vec<(Technique, &[Hit])> {
        self.done.iter().map(|search| (search.technique, search.hits.as_slice())).collect()
    }

    /// Where nothing served that looks at texts itself, the reason. What entities lead to is no
    /// answer in its place: a damaged index would be taken for an empty one.
    pub(super) fn take_failure(&mut self, turns: &mut Option<Result<Turns>>) -> Option<Error> {
        let on_its_own = self.done.iter().all(|search| search.technique == Technique::Entities);
        // Where turns alone were asked for, they alone can fail.
        if self.done.is_empty() && matches!(turns, Some(Err(_))) {
            return turns.take().and_then(Result::err);
        }
        let mut counted = self
            .done
            .iter_mut()
            .filter(|search| on_its_own || search.technique != Technique::Entities)
            .collect::<Vec<_>>();
        let failed = counted.iter().all(|search| search.failure.is_some());
        counted.first_mut().filter(|_| failed).and_then(|search| search.failure.take())
    }
}

/// All that a recall looks for.
pub(super) struct Found {
    pub memories: Memories,
    /// What was said, or why that could not be searched; nothing, where it was not asked for.
    pub turns: Option<Result<Turns>>,
    pub beside: Always,
}

/// What was found of memories.
pub(super) struct Memories {
    pub searches: Searches,
    /// The best, and how sure it is that the answer is among them.
    pub weighed: Result<(Vec<Recalled>, f64)>,
    pub patterns: Result<Vec<ShownPattern>>,
}

/// What the query's meaning brought: memories, and nodes.
#[derive(Default)]
struct Meant {
    vectors: Option<Search>,
    near: Vec<Hit>,
    /// Why there are no nodes, if `vectors` does not say it.
    failure: Option<Error>,
}

/// What need not wait for what the question means.
struct Ahead {
    words: Option<Search>,
    named: Option<(Instant, Result<Vec<NodeId>>)>,
    patterns: Result<Vec<Pattern>>,
}

/// What is found apart from memories.
struct Apart {
    turns: Option<Result<Turns>>,
    beside: Always,
}

impl Mnemic {
    /// Everything that is looked for, at the same time: memories, what was said, and what stands
    /// beside both.
    ///
    /// A model that computes in the process does so where its answer is awaited, so whatever can be
    /// found meanwhile is looked for by a task of its own. It ends with whoever asks.
    pub(super) async fn search_all(&self, quest: &Arc<Quest>) -> Found {
        if let EmbedderState::Loading(_) = self.embedder.state() {
            // The first search of a workspace builds its index, and meanwhile a model that is being
            // loaded can arrive: then the first answer is complete, too.
            let ahead = self.ahead(quest).await;
            let memories = self.by_memories(quest, async { ahead }).await;
            let (turns, beside) = tokio::join!(self.by_turns(quest), self.beside_always(quest));
            return Found { memories, turns, beside };
        }
        let embeds = quest.request.wants(Technique::Vectors);
        let (sender, receiver) = oneshot::channel();
        let mut task = JoinSet::new();
        let (mnemic, apart) = (self.clone(), quest.clone());
        let apart = async move {
            let ahead = async {
                if embeds {
                    // Whoever asked may have gone.
                    let _ = sender.send(mnemic.ahead(&apart).await);
                }
            };
            let (turns, beside) = (mnemic.by_turns(&apart), mnemic.beside_always(&apart));
            let ((), turns, beside) = tokio::join!(biased; ahead, turns, beside);
            Apart { turns, beside }
        };
        task.spawn(apart.in_current_span());
        hand_over();
        let ahead = async {
            if embeds {
                receiver.await.unwrap_or_else(|_| Ahead::broken())
            } else {
                self.ahead(quest).await
            }
        };
        let memories = self.by_memories(quest, ahead).await;
        let apart = task.join_next().await.and_then(|joined| {
            joined.inspect_err(|e| tracing::error!(error = %e, "a search broke off")).ok()
        });
        let Apart { turns, beside } = apart.unwrap_or_else(|| Apart::broken(quest));
        Found { memories, turns, beside }
    }

    async fn ahead(&self, quest: &Quest) -> Ahead {
        let (words, named, patterns) =
            tokio::join!(self.by_words(quest), self.by_name(quest), self.patterns_ahead(quest));
        Ahead { words, named, patterns }
    }

    /// Memories, found and weighed, and patterns of what the query is about.
    async fn by_memories(&self, quest: &Quest, ahead: impl Future<Output = Ahead>) -> Memories {
        let Meant { vectors, near, failure } = self.by_meaning(quest).await;
        let Ahead { words, named, patterns } = ahead.await;
        let done = [words, vectors].into_iter().flatten().collect();
        let mut searches = Searches { done, entities: vec![], partly: vec![] };
        if let Some(e) = failure {
            searches.partly.push(format!("entities: found by name only: {e}"));
        }
        if let Some(named) = named {
            self.by_entities(quest, named, near, &mut searches).await;
        }
        let patterns = self.patterns_beside(quest, patterns, &searches.entities);
        let (weighed, patterns) = tokio::join!(self.weigh(quest, &searches), patterns);
        Memories { searches, weighed, patterns }
    }

    async fn by_words(&self, quest: &Quest) -> Option<Search> {
        if !quest.seeks(Technique::Words) {
            return None;
        }
        let started = Instant::now();
        let (Quest { scope, sought, filter, .. }, kind) = (quest, ItemKind::Memory);
        let hits = self.store.search_words(*scope, kind, sought, filter, FOUND_PER_TECHNIQUE);
        Some(Search::done(Technique::Words, started, hits.await))
    }

    async fn by_name(&self, quest: &Quest) -> Option<(Instant, Result<Vec<NodeId>>)> {
        if !quest.request.wants(Technique::Entities) {
            return None;
        }
        let started = Instant::now();
        Some((started, self.nodes_named(quest).await))
    }

    /// The query is embedded once for memories, nodes and turns.
    async fn by_meaning(&self, quest: &Quest) -> Meant {
        let (vectors, nodes) =
            (quest.seeks(Technique::Vectors), quest.request.wants(Technique::Entities));
        if !vectors && !nodes {
            return Meant::default();
        }
        let started = Instant::now();
        let query = match self.query_vector(quest).await {
            Ok(query) => query,
            Err(e) if vectors => {
                // Switched off on purpose, or not there yet, is not a fault, but the answer says so.
                let state = self.embedder.state();
                let failed = if matches!(state, EmbedderState::Off | EmbedderState::Loading(_)) {
                    Search::failed(Technique::Vectors, started, e)
                } else {
                    Search::done(Technique::Vectors, started, Err(e))
                };
                return Meant { vectors: Some(failed), ..Meant::default() };
            }
            Err(e) => return Meant { failure: Some(e), ..Meant::default() },
        };
        if quest.clue.is_some() {
            hand_over();
        }
        let memories = async {
            let hits = self.memories_near(quest, query).await;
            Search::done(Technique::Vectors, started, hits)
        };
        let near = async { if nodes { self.nodes_near(quest, query).await } else { Ok(vec![]) } };
        let (vectors, near) = if vectors {
            let (memories, near) = tokio::join!(memories, near);
            (Some(memories), near)
        } else {
            (None, near.await)
        };
        match near {
            Ok(near) => Meant { vectors, near, failure: None },
            Err(e) => {
                let said = vectors.as_ref().is_some_and(|search| search.failure.is_some());
                Meant { vectors, near: vec![], failure: Some(e).filter(|_| !said) }
            }
        }
    }

    pub(super) async fn query_vector<'q>(&self, quest: &'q Quest) -> Result<&'q QueryVector> {
        quest.vector.get_or_try_init(|| self.embed_query(quest)).await
    }

    async fn embed_query(&self, quest: &Quest) -> Result<QueryVector> {
        let whole = quest.sought.clone();
        let (words, aside) = match &quest.clue {
            Some(clue) => (clue.words.clone(), clue.names.clone()),
            None => (whole.clone(), String::new()),
        };
        self.embed_question(quest.scope, Question { whole, words, aside }).await
    }

    /// The same of any text that something is looked for by.
    pub(crate) async fn embed_text(&self, scope: Scope, text: &str) -> Result<QueryVector> {
        let (whole, words) = (text.to_owned(), text.to_owned());
        self.embed_question(scope, Question { whole, words, aside: String::new() }).await
    }

    /// The query is embedded while the vectors of what was just written are completed.
    async fn embed_question(&self, scope: Scope, question: Question) -> Result<QueryVector> {
        let embedder = self.embedder.require()?;
        let (seen, ()) = tokio::join!(
            embedder.see_question(question),
            self.fill.settled(scope, FRESHNESS_WAIT),
        );
        let SeenQuestion { whole, words } = seen?;
        let Seen { vector, pieces: own_pieces } = whole;
        let Seen { vector: of_turns, pieces } = words;
        Ok(QueryVector { embedder, vector, own_pieces, of_turns, pieces })
    }

    async fn memories_near(&self, quest: &Quest, query: &QueryVector) -> Result<Vec<Hit>> {
        let (kind, stamp) = (ItemKind::Memory, query.embedder.stamp());
        let (scope, filter) = (quest.scope, &quest.filter);
        self.store
            .search_vectors(scope, kind, stamp, &query.vector, filter, FOUND_PER_TECHNIQUE)
            .await
    }

    /// Adds what the entities of the query lead to.
    async fn by_entities(
        &self,
        quest: &Quest,
        (started, named): (Instant, Result<Vec<NodeId>>),
        near: Vec<Hit>,
        searches: &mut Searches,
    ) {
        let known = known(quest, &searches.lists());
        let found = match named {
            Ok(named) => self.expand(quest, named, near, &known).await,
            Err(e) => Err(e),
        };
        let (outcome, through) = match found {
            Ok(entity::Found { entities, expansion, late }) => {
                if late {
                    let said = "entities: there was no time for the memories about them";
                    searches.partly.push(said.to_owned());
                }
                searches.entities = entities;
                (Ok(expansion.hits), expansion.through)
            }
            Err(e) => (Err(e), HashMap::new()),
        };
        let search = Search::done(Technique::Entities, started, outcome);
        searches.done.push(Search { through, ..search });
    }
}

impl Ahead {
    fn broken() -> Self {
        let started = Instant::now();
        Self {
            words: Some(Search::failed(Technique::Words, started, broken_off())),
            named: Some((started, Err(broken_off()))),
            patterns: Err(broken_off()),
        }
    }
}

impl Apart {
    fn broken(quest: &Quest) -> Self {
        let turns = quest.clue.is_some().then(|| Err(broken_off()));
        Self { turns, beside: Always::failed(broken_off) }
    }
}

fn broken_off() -> Error {
    Error::internal("a search broke off")
}

/// Lets another thread take up the task that this one has started or woken last. A runtime keeps that
/// one for its own thread, to go on with as soon as this task rests, until there is a newer one.
fn hand_over() {
    drop(tokio::spawn(async {}));
}

/// What was found by now, best first, each with its share of the best one's score; as many as can
/// come into the answer.
fn known(quest: &Quest, lists: &[(Technique, &[Hit])]) -> Vec<(Uuid, f64)> {
    let fused = fuse::fuse(lists);
    let best = fused.first().map_or(1.0, |first| first.score.max(f64::MIN_POSITIVE));
    let count = fuse::weighed_count(quest.limit);
    fused.into_iter().take(count).map(|it| (it.id, it.score / best)).collect()
}
