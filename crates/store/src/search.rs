//! The half of the engine port that is about finding: databases differ most here, so each
//! engine brings its own. Scores are greater for better, whatever the engine.

use std::sync::Arc;

use async_trait::async_trait;
use mnemic_core::Result;
use mnemic_core::embed::ModelStamp;
use mnemic_core::ids::TurnId;
use mnemic_core::recall::{Hit, ItemKind, SearchFilter, Spoken, WordEvidence};
use mnemic_core::store::PieceLikeness;
use uuid::Uuid;

use crate::{Engine, Scope};

/// An engine that can search what it holds.
///
/// A search that starts after a write was answered finds it. The filter is applied before
/// ranking: a search never returns fewer than `limit` while more pass the filter and match.
#[async_trait]
pub trait SearchEngine: Engine {
    /// From now on, vectors of this model are searched and no others.
    async fn use_model(&self, stamp: &ModelStamp) -> Result<()>;

    /// One kind of items by their words.
    async fn search_words(
        &self,
        scope: Scope,
        kind: ItemKind,
        query: &str,
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<Hit>>;

    /// One kind of items, with cosines as scores: true ones, where at most 30 are asked for, else to
    /// within what quantising costs. `stamp` is the model that made the query: vectors of two models
    /// are never compared, so where another one's are searched, the answer is
    /// [`Code::ModelUnavailable`](mnemic_core::Code::ModelUnavailable).
    async fn search_vectors(
        &self,
        scope: Scope,
        kind: ItemKind,
        stamp: &ModelStamp,
        query: &[f32],
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<Hit>>;

    /// What items hold of the query's words, in the order of the ids.
    async fn word_evidence(
        &self,
        scope: Scope,
        kind: ItemKind,
        query: &str,
        ids: &[Uuid],
    ) -> Result<WordEvidence>;

    /// How near items are to the query, in the order of the ids, to within what quantising costs;
    /// nothing for one without a vector.
    async fn cosines(
        &self,
        scope: Scope,
        kind: ItemKind,
        stamp: &ModelStamp,
        query: &[f32],
        ids: &[Uuid],
    ) -> Result<Vec<Option<f32>>>;

    /// How near a query's packed pieces come to those of items, in the order of the ids; nothing for
    /// one that has none.
    async fn piece_likeness(
        &self,
        scope: Scope,
        kind: ItemKind,
        stamp: &ModelStamp,
        pieces: &[u8],
        ids: &[Uuid],
    ) -> Result<Vec<Option<PieceLikeness>>>;

    /// These turns and, of each, so many before and after it in its conversation; by conversation
    /// and index, each once.
    async fn said_around(
        &self,
        scope: Scope,
        ids: &[TurnId],
        reach: i64,
    ) -> Result<Vec<Arc<Spoken>>>;

    /// Which of the query's words each memory has, as the query spells them.
    async fn matched_words(
        &self,
        scope: Scope,
        query: &str,
        ids: &[Uuid],
    ) -> Result<Vec<Vec<String>>>;

    /// Makes whatever is held for a workspace outside of its rows, before somebody waits for it.
    /// Returns whether there is room for that of another one.
    async fn prepare_searches(&self, scope: Scope) -> Result<bool>;

    /// Drops whatever is held for a workspace outside of its rows.
    fn forget(&self, scope: Scope);

    /// What the search side has to say about its health.
    fn describe(&self) -> String;
}
