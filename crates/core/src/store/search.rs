//! The port for searches.

use async_trait::async_trait;
use uuid::Uuid;

use crate::embed::ModelStamp;
use crate::error::Result;
use crate::principal::Scope;
use crate::recall::{Hit, ItemKind, SearchFilter};

#[async_trait]
pub trait Search {
    /// Memories by words, best first.
    async fn search_words(
        &self,
        scope: Scope,
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
    /// Which of the query's words each of the memories has.
    async fn matched_words(
        &self,
        scope: Scope,
        query: &str,
        ids: &[Uuid],
    ) -> Result<Vec<Vec<String>>>;
}
