//! Searches made ready before anybody asks: what is held beside the rows is built when a server
//! starts. Among a million items on a cold disk the first question would wait for most of a minute.

use crate::Mnemic;
use crate::error::Result;
use crate::principal::Scope;

impl Mnemic {
    /// Goes through the workspaces, the oldest first, as long as there is room. Whoever asks
    /// meanwhile waits for their own at most. What goes wrong is logged, and tried again by the first search.
    pub async fn prepare_searches(&self) {
        if let Err(error) = self.try_prepare_searches().await {
            tracing::warn!(%error, "searches were not made ready");
        }
    }

    async fn try_prepare_searches(&self) -> Result<()> {
        for id in self.workspace_ids().await? {
            if !self.store.prepare_searches(Scope::of_job(id)).await? {
                break;
            }
        }
        Ok(())
    }
}
