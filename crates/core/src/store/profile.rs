//! The port for what belongs to one user or one agent: profiles and scratchpads.

use async_trait::async_trait;
use uuid::Uuid;

use crate::error::Result;
use crate::principal::Scope;
use crate::profile::UserProfile;
use crate::scratchpad::Scratchpad;

#[async_trait]
pub trait ProfileStore {
    async fn find_profile(&self, scope: Scope, user: &str) -> Result<Option<UserProfile>>;
    async fn find_scratchpad(&self, scope: Scope, agent: &str) -> Result<Option<Scratchpad>>;
    /// Those of these ids that are scratchpads, in the order asked for.
    async fn lookup_scratchpads(&self, scope: Scope, ids: &[Uuid]) -> Result<Vec<Uuid>>;
}
