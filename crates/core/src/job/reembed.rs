//! Moves a workspace to the present embedding model: every text gets a vector of it, then those
//! of other models go.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::SignedDuration;

use super::{Claim, Done, Job};
use crate::Mnemic;
use crate::embed::{Embedder, EmbedderState, ModelStamp};
use crate::error::Result;
use crate::principal::Scope;

pub(super) struct Reembed;

#[async_trait]
impl Job for Reembed {
    fn name(&self) -> &'static str {
        "reembed"
    }

    /// Called for when a model comes up; new texts get their vectors without it.
    fn cadence(&self) -> Option<SignedDuration> {
        None
    }

    async fn preview(&self, mnemic: &Mnemic, scope: Scope) -> Result<u64> {
        let embedder = mnemic.embedder.require()?;
        mnemic.store.count_unembedded(scope, embedder.stamp()).await
    }

    async fn run(&self, mnemic: &Mnemic, claim: &Claim) -> Result<Done> {
        mnemic.reembed_workspace(claim.scope()).await.map(Done::changed)
    }
}

impl Mnemic {
    /// Says which model is to come, so that an index built before it is there holds its vectors.
    pub async fn expect_model(&self, stamp: &ModelStamp) -> Result<()> {
        self.store.use_model(stamp).await
    }

    /// Lets searches use a model from now on. What has no vector of it yet gets one by
    /// [`Self::embed_all`].
    pub async fn adopt_model(&self, embedder: Arc<dyn Embedder>) -> Result<()> {
        self.store.use_model(embedder.stamp()).await?;
        self.embedder.set(EmbedderState::Ready(embedder));
        Ok(())
    }

    /// Gives whatever has no vector of the present model one, in every workspace. Unclaimed: a
    /// vector is the same whoever makes it, and a server that starts must not wait for another.
    pub async fn embed_all(&self) -> Result<()> {
        for id in self.workspace_ids().await? {
            let made = self.reembed_workspace(Scope::of_job(id)).await?;
            if made > 0 {
                tracing::info!(workspace = %id, made, "vectors filled in");
            }
        }
        Ok(())
    }
}
