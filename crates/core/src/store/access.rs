//! The port for what draws borders inside a workspace: domains, policies, roles. Grants are part
//! of the workspace, so that they come with the token.

use std::collections::BTreeSet;

use async_trait::async_trait;

use crate::domain::Domain;
use crate::error::Result;
use crate::grant::Readable;
use crate::ids::{PolicyId, WorkspaceId};
use crate::page::Position;
use crate::policy::{Policy, PolicyFilter};
use crate::principal::Scope;

#[async_trait]
pub trait AccessStore {
    /// By name.
    async fn list_domains(&self, scope: Scope) -> Result<Vec<Domain>>;
    async fn find_domain(&self, scope: Scope, name: &str) -> Result<Option<Domain>>;
    async fn lookup_policy(&self, scope: Scope, id: PolicyId) -> Result<Option<Policy>>;
    /// Newest first.
    async fn list_policies(
        &self,
        scope: Scope,
        filter: &PolicyFilter,
        readable: &Readable,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Policy>>;
    /// The roles that active policies reserve a domain for; empty, if it is open.
    async fn list_gates(&self, scope: Scope, domain: &str) -> Result<Vec<String>>;
    /// The roles of a workspace's tokens, revoked or not.
    async fn list_roles(&self, workspace: WorkspaceId) -> Result<BTreeSet<String>>;
}
