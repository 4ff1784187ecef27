//! Profiles of users and scratchpads of agents.

use async_trait::async_trait;
use mnemic_core::Result;
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::profile::UserProfile;
use mnemic_core::scratchpad::Scratchpad;
use mnemic_core::store::ProfileStore;
use uuid::Uuid;

use super::{EngineStore, own};
use crate::statements::{profile, scratchpad};
use crate::{Fields, Row, SearchEngine, values};

#[async_trait]
impl<E: SearchEngine> ProfileStore for EngineStore<E> {
    async fn find_profile(&self, scope: Workspaced, user: &str) -> Result<Option<UserProfile>> {
        self.first(own(scope), &profile::FIND, values![user], profile::from_row).await
    }

    async fn find_scratchpad(&self, scope: Workspaced, agent: &str) -> Result<Option<Scratchpad>> {
        self.first(own(scope), &scratchpad::FIND, values![agent], scratchpad::from_row).await
    }

    async fn lookup_scratchpads(&self, scope: Workspaced, ids: &[Uuid]) -> Result<Vec<Uuid>> {
        let params = ids.iter().map(|id| values![*id]).collect();
        let id = |row: &Row| row.uuid("id");
        self.each(own(scope), &scratchpad::EXISTS, params, id).await
    }
}
