//! The port for vectors.

use async_trait::async_trait;
use uuid::Uuid;

use crate::embed::ModelStamp;
use crate::error::Result;
use crate::principal::Scope;
use crate::recall::ItemKind;

/// A text that waits for its vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unembedded {
    pub kind: ItemKind,
    pub id: Uuid,
    pub text: String,
}

/// A vector, perhaps with those of its pieces, and the text that it was made of. It is taken only
/// if the record still has that text.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    pub kind: ItemKind,
    pub id: Uuid,
    pub text: String,
    pub vector: Vec<f32>,
    pub pieces: Vec<f32>,
}

#[async_trait]
pub trait VectorStore {
    /// Tells which model's vectors the searches are about.
    async fn use_model(&self, stamp: &ModelStamp) -> Result<()>;
    /// Records without a vector of this model, by id, behind `after`.
    async fn list_unembedded(
        &self,
        scope: Scope,
        stamp: &ModelStamp,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Unembedded>>;
    async fn count_unembedded(&self, scope: Scope, stamp: &ModelStamp) -> Result<u64>;
    async fn lookup_unembedded(&self, scope: Scope, ids: &[Uuid]) -> Result<Vec<Unembedded>>;
    async fn put_vectors(
        &self,
        scope: Scope,
        stamp: &ModelStamp,
        vectors: Vec<Embedded>,
    ) -> Result<()>;
    /// The vectors of these records; nothing for one that has none.
    async fn vectors_of(
        &self,
        scope: Scope,
        stamp: &ModelStamp,
        ids: &[Uuid],
    ) -> Result<Vec<Option<Vec<f32>>>>;
    /// Removes the vectors of every other model; says how many.
    async fn drop_other_vectors(&self, scope: Scope, stamp: &ModelStamp) -> Result<u64>;
}
