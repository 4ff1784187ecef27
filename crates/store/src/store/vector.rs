//! Vectors.

use std::collections::HashMap;

use async_trait::async_trait;
use mnemic_core::embed::ModelStamp;
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::store::{Embedded, Unembedded, VectorStore};
use mnemic_core::{Code, Error, Result};
use uuid::Uuid;

use super::{EngineStore, own};
use crate::statements::vector;
use crate::{Batch, SearchEngine, values};

#[async_trait]
impl<E: SearchEngine> VectorStore for EngineStore<E> {
    async fn use_model(&self, stamp: &ModelStamp) -> Result<()> {
        self.engine.use_model(stamp).await
    }

    async fn list_unembedded(
        &self,
        scope: Workspaced,
        stamp: &ModelStamp,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Unembedded>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let params = values![stamp.key(), after, limit];
        self.all(own(scope), &vector::LIST_MISSING, params, vector::text_from_row).await
    }

    async fn count_unembedded(&self, scope: Workspaced, stamp: &ModelStamp) -> Result<u64> {
        self.count(own(scope), &vector::COUNT_MISSING, values![stamp.key()]).await
    }

    async fn lookup_unembedded(&self, scope: Workspaced, ids: &[Uuid]) -> Result<Vec<Unembedded>> {
        let params = ids.iter().map(|id| values![*id]).collect();
        self.each(own(scope), &vector::LOOKUP_TEXT, params, vector::text_from_row).await
    }

    async fn put_vectors(
        &self,
        scope: Workspaced,
        stamp: &ModelStamp,
        vectors: Vec<Embedded>,
    ) -> Result<()> {
        let mut batch = Batch::new();
        for embedded in &vectors {
            if embedded.vector.len() != stamp.dimensions {
                let detail =
                    format!("a vector of {} has {} dimensions", stamp.key(), embedded.vector.len());
                return Err(Error::new(Code::ModelUnavailable, detail));
            }
            batch.push(vector::put(stamp, embedded)).touch(embedded.kind, embedded.id);
        }
        self.engine.write(own(scope), batch).await.map(drop)
    }

    async fn vectors_of(
        &self,
        scope: Workspaced,
        stamp: &ModelStamp,
        ids: &[Uuid],
    ) -> Result<Vec<Option<Vec<f32>>>> {
        let params = ids.iter().map(|id| values![*id, stamp.key()]).collect();
        let found = self.each(own(scope), &vector::LOOKUP, params, vector::vector_from_row).await?;
        let mut found: HashMap<_, _> = found.into_iter().collect();
        Ok(ids.iter().map(|id| found.remove(id)).collect())
    }

    async fn drop_other_vectors(&self, scope: Workspaced, stamp: &ModelStamp) -> Result<u64> {
        self.affected(own(scope), &vector::DROP_OTHERS, values![stamp.key()]).await
    }
}
