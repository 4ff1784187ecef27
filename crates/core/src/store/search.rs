//! The port for searches.

use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;

use crate::embed::ModelStamp;
use crate::error::Result;
use crate::ids::TurnId;
use crate::principal::Scope;
use crate::recall::{Hit, ItemKind, SearchFilter, Spoken, WordEvidence};

/// How near a query's pieces come to those of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct PieceLikeness {
    /// Of each of the query's, about the cosine with the nearest of the record's.
    pub nearest: Vec<f32>,
    /// How many the record has.
    pub pieces: usize,
}

#[async_trait]
pub trait Search {
    /// One kind of items by words, best first.
    async fn search_words(
        &self,
        scope: Scope,
        kind: ItemKind,
        query: &str,
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<Hit>>;
    /// One kind of items by meaning, best first. Scores are cosines: true ones, where no more are
    /// asked for than an answer has, else to within what quantising costs. `stamp` is the model that
    /// made the query; where the vectors of another one are searched, it is `Code::ModelUnavailable`.
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
    /// How near items are to the query, in the order of the ids; nothing for one without a vector.
    async fn cosines(
        &self,
        scope: Scope,
        kind: ItemKind,
        stamp: &ModelStamp,
        query: &[f32],
        ids: &[Uuid],
    ) -> Result<Vec<Option<f32>>>;
    /// How near a query's pieces come to those of items, in the order of the ids; nothing for one
    /// that has none.
    async fn piece_likeness(
        &self,
        scope: Scope,
        kind: ItemKind,
        stamp: &ModelStamp,
        pieces: &[f32],
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
    /// Which of the query's words each of the memories has.
    async fn matched_words(
        &self,
        scope: Scope,
        query: &str,
        ids: &[Uuid],
    ) -> Result<Vec<Vec<String>>>;
    /// Makes ready what searches of a workspace need beside its rows, before somebody waits for it.
    /// Returns whether there is room for that of another one.
    async fn prepare_searches(&self, scope: Scope) -> Result<bool>;
}
