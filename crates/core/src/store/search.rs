//! The port for searches.

use async_trait::async_trait;
use uuid::Uuid;

use crate::embed::ModelStamp;
use crate::error::Result;
use crate::principal::Scope;
use crate::recall::{Hit, ItemKind, SearchFilter, WordEvidence};

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
    /// One kind of items by meaning, best first, with true cosines as scores. `stamp` is the model that made the
    /// query; where the vectors of another one are searched, it is `Code::ModelUnavailable`.
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
    /// Which of the query's words each of the memories has.
    async fn matched_words(
        &self,
        scope: Scope,
        query: &str,
        ids: &[Uuid],
    ) -> Result<Vec<Vec<String>>>;
}
