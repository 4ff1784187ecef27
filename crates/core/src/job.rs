//! Work that goes on behind the requests: by itself, or by hand through `jobs`.

use std::sync::Arc;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::Mnemic;
use crate::answer::ANSWER_HOURS;
use crate::embed::{Embedder, EmbedderState, ModelStamp};
use crate::error::{Error, Result};
use crate::ids::{WorkspaceId, shorten};
use crate::page::Position;
use crate::principal::{Action, Principal, Scope, authorize};

/// What can be run by hand.
pub const NAMES: [&str; 1] = ["reembed"];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobReport {
    pub name: String,
    /// How many records it changed.
    pub changed: u64,
}

impl Mnemic {
    /// Runs a job for the caller's workspace.
    pub async fn run_job(&self, principal: &Principal, name: &str) -> Result<JobReport> {
        authorize(principal, Action::RunJobs)?;
        match name {
            "reembed" => {
                let changed = self.reembed_workspace(principal.scope()).await?;
                Ok(JobReport { name: name.to_owned(), changed })
            }
            other => Err(Error::invalid(
                "job",
                format!("`{}` is not one of {}", shorten(other), NAMES.join(", ")),
            )),
        }
    }

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

    /// Gives whatever has no vector of the present model one, in every workspace.
    pub async fn embed_all(&self) -> Result<()> {
        for id in self.workspace_ids().await? {
            let made = self.reembed_workspace(Scope::of_job(id)).await?;
            if made > 0 {
                tracing::info!(workspace = %id, made, "vectors filled in");
            }
        }
        Ok(())
    }

    /// Forgets kept answers and slots that are past their time.
    pub async fn tidy(&self) -> Result<()> {
        self.slots.slots.sweep(self.clock.now()).await;
        let age = SignedDuration::from_hours(ANSWER_HOURS);
        let Ok(before) = self.clock.now().checked_sub(age) else { return Ok(()) };
        for id in self.workspace_ids().await? {
            self.store.drop_answers(Scope::of_job(id), before).await?;
        }
        Ok(())
    }

    /// How many memories each workspace holds, for the metrics.
    pub async fn sizes(&self) -> Result<Vec<(WorkspaceId, u64)>> {
        let mut sizes = Vec::new();
        for id in self.workspace_ids().await? {
            sizes.push((id, self.store.count_memories(Scope::of_job(id)).await?));
        }
        Ok(sizes)
    }

    async fn workspace_ids(&self) -> Result<Vec<WorkspaceId>> {
        const PAGE: usize = 200;
        let mut ids: Vec<WorkspaceId> = Vec::new();
        loop {
            let after = ids.last().map(|id| Position::After(id.0));
            let page = self.store.list_workspaces(after, PAGE).await?;
            let last = page.len() < PAGE;
            ids.extend(page.iter().map(|workspace| workspace.id));
            if last {
                return Ok(ids);
            }
        }
    }
}
