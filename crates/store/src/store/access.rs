//! Domains, policies and roles.

use std::collections::BTreeSet;

use async_trait::async_trait;
use mnemic_core::Result;
use mnemic_core::domain::Domain;
use mnemic_core::grant::Readable;
use mnemic_core::ids::{PolicyId, WorkspaceId};
use mnemic_core::page::Position;
use mnemic_core::policy::{Policy, PolicyFilter};
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::store::AccessStore;

use super::{EngineStore, behind, own};
use crate::statements::access;
use crate::{Fields, Row, Scope, SearchEngine, values};

#[async_trait]
impl<E: SearchEngine> AccessStore for EngineStore<E> {
    async fn list_domains(&self, scope: Workspaced) -> Result<Vec<Domain>> {
        self.all(own(scope), &access::LIST_DOMAINS, vec![], access::domain_from_row).await
    }

    async fn find_domain(&self, scope: Workspaced, name: &str) -> Result<Option<Domain>> {
        let params = values![name];
        self.first(own(scope), &access::FIND_DOMAIN, params, access::domain_from_row).await
    }

    async fn lookup_policy(&self, scope: Workspaced, id: PolicyId) -> Result<Option<Policy>> {
        let params = values![id.0];
        self.first(own(scope), &access::LOOKUP_POLICY, params, access::policy_from_row).await
    }

    async fn list_policies(
        &self,
        scope: Workspaced,
        filter: &PolicyFilter,
        readable: &Readable,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Policy>> {
        let params = access::list_policies(filter, readable, behind(after), limit);
        self.all(own(scope), &access::LIST_POLICIES, params, access::policy_from_row).await
    }

    async fn list_gates(&self, scope: Workspaced, domain: &str) -> Result<Vec<String>> {
        let role = |row: &Row| row.string("required_role");
        self.all(own(scope), &access::GATES, values![domain], role).await
    }

    async fn list_roles(&self, workspace: WorkspaceId) -> Result<BTreeSet<String>> {
        let params = values![workspace.0];
        let roles = self.all(Scope::System, &access::ROLES, params, |row| row.string("role"));
        Ok(roles.await?.into_iter().collect())
    }
}
