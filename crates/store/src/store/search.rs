//! Searches, which each engine does in its own way.

use std::sync::Arc;

use async_trait::async_trait;
use mnemic_core::Result;
use mnemic_core::embed::ModelStamp;
use mnemic_core::ids::TurnId;
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::recall::{Hit, ItemKind, SearchFilter, Spoken, WordEvidence};
use mnemic_core::store::{PieceLikeness, Search};
use uuid::Uuid;

use super::{EngineStore, own};
use crate::SearchEngine;

#[async_trait]
impl<E: SearchEngine> Search for EngineStore<E> {
    async fn search_words(
        &self,
        scope: Workspaced,
        kind: ItemKind,
        query: &str,
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<Hit>> {
        self.engine.search_words(own(scope), kind, query, filter, limit).await
    }

    async fn word_evidence(
        &self,
        scope: Workspaced,
        kind: ItemKind,
        query: &str,
        ids: &[Uuid],
    ) -> Result<WordEvidence> {
        self.engine.word_evidence(own(scope), kind, query, ids).await
    }

    async fn cosines(
        &self,
        scope: Workspaced,
        kind: ItemKind,
        stamp: &ModelStamp,
        query: &[f32],
        ids: &[Uuid],
    ) -> Result<Vec<Option<f32>>> {
        self.engine.cosines(own(scope), kind, stamp, query, ids).await
    }

    async fn search_vectors(
        &self,
        scope: Workspaced,
        kind: ItemKind,
        stamp: &ModelStamp,
        query: &[f32],
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<Hit>> {
        self.engine.search_vectors(own(scope), kind, stamp, query, filter, limit).await
    }

    async fn piece_likeness(
        &self,
        scope: Workspaced,
        kind: ItemKind,
        stamp: &ModelStamp,
        pieces: &[f32],
        ids: &[Uuid],
    ) -> Result<Vec<Option<PieceLikeness>>> {
        let packed = mnemic_recall::pack_pieces(pieces, stamp.dimensions);
        self.engine.piece_likeness(own(scope), kind, stamp, &packed, ids).await
    }

    async fn said_around(
        &self,
        scope: Workspaced,
        ids: &[TurnId],
        reach: i64,
    ) -> Result<Vec<Arc<Spoken>>> {
        self.engine.said_around(own(scope), ids, reach).await
    }

    async fn matched_words(
        &self,
        scope: Workspaced,
        query: &str,
        ids: &[Uuid],
    ) -> Result<Vec<Vec<String>>> {
        self.engine.matched_words(own(scope), query, ids).await
    }

    async fn prepare_searches(&self, scope: Workspaced) -> Result<bool> {
        self.engine.prepare_searches(own(scope)).await
    }
}
