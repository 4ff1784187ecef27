//! Finding past runs by what they were about: by words and by meaning.

use std::collections::HashMap;

use super::Intent;
use crate::Mnemic;
use crate::error::Result;
use crate::ids::IntentId;
use crate::principal::Principal;
use crate::recall::{ItemKind, SearchFilter, Technique, fuse};

/// How many of each technique are weighed.
const FOUND_MAX: usize = 100;

#[derive(Debug, Clone, PartialEq)]
pub struct IntentHit {
    pub intent: Intent,
    pub score: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FoundIntents {
    /// Best first.
    pub items: Vec<IntentHit>,
    /// What could not serve, and why.
    pub degraded: Vec<String>,
}

impl Mnemic {
    /// What sequences were about that is like a text. For whoever has authorized the caller.
    pub async fn find_intents(
        &self,
        principal: &Principal,
        query: &str,
        limit: usize,
    ) -> Result<FoundIntents> {
        let scope = principal.scope();
        let words = self.store.search_intent_words(scope, query, FOUND_MAX);
        let near = async {
            let query = self.embed_text(scope, query).await.map_err(|e| e.to_string())?;
            let (stamp, filter) = (query.embedder.stamp(), SearchFilter::default());
            let found = self.store.search_vectors(
                scope,
                ItemKind::Intent,
                stamp,
                &query.vector,
                &filter,
                FOUND_MAX,
            );
            found.await.map_err(|e| e.to_string())
        };
        let (words, near) = tokio::join!(words, near);
        let mut degraded = Vec::new();
        let near = near.unwrap_or_else(|e| {
            degraded.push(format!("vectors: {e}"));
            vec![]
        });
        let fused = fuse::fuse(&[(Technique::Words, &words?), (Technique::Vectors, &near)]);
        let ids: Vec<_> = fused.iter().take(limit).map(|it| IntentId(it.id)).collect();
        let intents = self.store.lookup_intents(scope, &ids).await?;
        let mut intents: HashMap<_, _> = intents.into_iter().map(|it| (it.id.0, it)).collect();
        let hit =
            |it: &fuse::Fused| Some(IntentHit { intent: intents.remove(&it.id)?, score: it.score });
        let items = fused.iter().filter_map(hit).collect();
        Ok(FoundIntents { items, degraded })
    }
}
