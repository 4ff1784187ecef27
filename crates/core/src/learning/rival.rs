//! What is known already about what a new fact says: the same, or the opposite.

use std::sync::Arc;

use jiff::Timestamp;

use crate::Mnemic;
use crate::embed::{Embedder, Purpose};
use crate::error::Result;
use crate::extraction::{Attribute, COSINE_MIN, Extraction, FoundFact, Likeness};
use crate::ids::{MemoryId, NodeId, TurnId};
use crate::memory::{GLOBAL_CHANNEL, Memory, Temporal};
use crate::principal::Caller;
use crate::recall::{ItemKind, SearchFilter, Sight};
use crate::text::fold_name;

/// Memories that are looked at, found by words and by what they are about.
const CANDIDATES_MAX: usize = 50;
/// Memories that are looked at, found by meaning.
const NEAR_MAX: usize = 5;

/// What the facts of an extraction mean, in their order.
pub(crate) struct Vectors {
    embedder: Arc<dyn Embedder>,
    vectors: Vec<Vec<f32>>,
}

/// What a new fact meets.
#[derive(Default)]
pub(super) struct Rivals {
    /// It says the same.
    pub same: Option<Memory>,
    /// They cannot be true if it is.
    pub opposed: Vec<Opposed>,
}

/// A memory that a new fact contradicts.
pub(super) struct Opposed {
    pub memory: Memory,
    /// When it was said last.
    pub said_at: Timestamp,
}

impl Opposed {
    /// When it began to hold, as far as it says; at the latest when it was said.
    pub(super) fn began(&self) -> Timestamp {
        self.memory.valid_from.unwrap_or(self.said_at)
    }
}

impl Mnemic {
    /// Without a model for it, words alone compare.
    pub(super) async fn vectors_of(&self, extraction: &Extraction) -> Option<Vectors> {
        let embedder = self.embedder.ready()?;
        let texts: Vec<_> = extraction.facts.iter().map(|fact| fact.content.clone()).collect();
        if texts.is_empty() {
            return None;
        }
        match embedder.embed(texts, Purpose::Document).await {
            Ok(vectors) => Some(Vectors { embedder, vectors }),
            Err(e) => {
                tracing::warn!(error = %e, "facts are compared by their words alone");
                None
            }
        }
    }

    /// What is known in the channel, or everywhere, and in no domain: what a domain keeps is its
    /// own business.
    pub(super) async fn rivals(
        &self,
        caller: &Caller,
        channel: &str,
        fact: &FoundFact,
        meaning: Option<(&Vectors, usize)>,
    ) -> Result<Rivals> {
        let filter = SearchFilter {
            channels: Some(vec![channel.to_owned(), GLOBAL_CHANNEL.to_owned()]),
            readable: caller.principal.access.readable(),
            ..SearchFilter::default()
        };
        let near = self.near(caller, &filter, meaning).await;
        let mut ids = near.clone();
        ids.extend(self.candidates(caller, channel, fact, &filter).await?);
        let mut known: Vec<MemoryId> = Vec::new();
        ids.retain(|id| {
            !known.contains(id) && {
                known.push(*id);
                true
            }
        });
        let found = self.store.lookup_memories(caller.scope(), &ids).await?;
        let (likeness, attribute) = (Likeness::of(&fact.content), fact.attribute());
        let now = self.clock.now();
        let mut rivals = Rivals::default();
        for memory in found.into_iter().filter(|m| m.is_live() && m.domain.is_none()) {
            let other = Likeness::of(&memory.content);
            let means_it = near.contains(&memory.id) && likeness.may_mean(&other);
            let told = Attribute::of(&memory.content);
            let clash = |(new, old): (&Attribute, &Attribute)| new.contradicts(old);
            let holds = memory.tense(now) != Some(Temporal::Past);
            if attribute.as_ref().zip(told.as_ref()).is_some_and(clash) {
                if holds {
                    let said_at = self.said_at(caller, &memory).await?;
                    rivals.opposed.push(Opposed { memory, said_at });
                }
            } else if rivals.same.is_none()
                && (likeness.restates(&other)
                    || means_it
                    || holds && fact.adds_nothing_to(told.as_ref()))
                && same_entities(&memory.entities, &fact.entities)
            {
                rivals.same = Some(memory);
            }
        }
        Ok(rivals)
    }

    /// The time of the last of the turns that a memory was drawn from. Where none is left, because
    /// it was made by hand or they were rolled up, it is when the memory was made: that is never
    /// before it was said, and `valid_from` is no help, as people speak of what began long ago.
    async fn said_at(&self, caller: &Caller, memory: &Memory) -> Result<Timestamp> {
        let ids: Vec<TurnId> = memory.source_ids.iter().filter_map(|id| id.parse().ok()).collect();
        let turns = self.store.lookup_turns(caller.scope(), &ids).await?;
        Ok(turns.into_iter().map(|turn| turn.at).max().unwrap_or(memory.created_at))
    }

    /// Memories with the same words, or about the same.
    async fn candidates(
        &self,
        caller: &Caller,
        channel: &str,
        fact: &FoundFact,
        filter: &SearchFilter,
    ) -> Result<Vec<MemoryId>> {
        let (scope, store) = (caller.scope(), &self.store);
        let hits = store
            .search_words(scope, ItemKind::Memory, &fact.content, filter, CANDIDATES_MAX)
            .await?;
        let mut ids: Vec<_> = hits.into_iter().map(|hit| MemoryId(hit.id)).collect();
        let keys: Vec<_> = fact.entities.iter().map(|name| fold_name(name)).collect();
        let bearers = store.find_bearers(scope, channel, &keys).await?;
        let nodes: Vec<NodeId> =
            bearers.into_iter().flatten().map(|bearer| bearer.node_id).collect();
        if !nodes.is_empty() {
            let sight = Sight { filter, now: self.clock.now() };
            let about = store.list_about(scope, &nodes, &sight, CANDIDATES_MAX).await?;
            ids.extend(about.into_iter().flatten().map(MemoryId));
        }
        Ok(ids)
    }

    /// Memories that mean the same, as far as vectors can tell.
    async fn near(
        &self,
        caller: &Caller,
        filter: &SearchFilter,
        meaning: Option<(&Vectors, usize)>,
    ) -> Vec<MemoryId> {
        let Some((vectors, place)) = meaning else { return vec![] };
        let Some(vector) = vectors.vectors.get(place) else { return vec![] };
        let (scope, stamp) = (caller.scope(), vectors.embedder.stamp());
        let hits =
            self.store.search_vectors(scope, ItemKind::Memory, stamp, vector, filter, NEAR_MAX);
        match hits.await {
            Ok(hits) => {
                let near = hits.into_iter().filter(|hit| f64::from(hit.score) >= COSINE_MIN);
                near.map(|hit| MemoryId(hit.id)).collect()
            }
            Err(e) => {
                tracing::debug!(error = %e, "facts are compared by their words alone");
                vec![]
            }
        }
    }
}

/// A memory made by hand may name none.
fn same_entities(known: &[String], new: &[String]) -> bool {
    let folded = |names: &[String]| {
        let mut names: Vec<_> = names.iter().map(|name| fold_name(name)).collect();
        names.sort();
        names
    };
    known.is_empty() || folded(known) == folded(new)
}
