//! Policies: normative rules of a domain, derived from facts. One with a required role reserves
//! writing to its domain for that role.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Mnemic;
use crate::domain::check_domain;
use crate::error::{Error, Result};
use crate::ids::{MemoryId, PolicyId};
use crate::memory::Kind;
use crate::page::{Page, PageRequest, Position};
use crate::principal::{Action, Caller, Operation, Principal};
use crate::store::Change;
use crate::text::{CONTENT_BYTES_MAX, check_content, check_optional_name};

const LIST: &str = "policies";
const SOURCES_MAX: usize = 100;

static READ: Operation = Operation::new("policy.list", Action::ReadMemories);
static CREATE: Operation = Operation::new("policy.create", Action::WriteMemories);
static UPDATE: Operation = Operation::new("policy.update", Action::WriteMemories);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    pub id: PolicyId,
    pub rule: String,
    pub domain: String,
    /// The facts it derives from.
    pub source_fact_ids: Vec<MemoryId>,
    /// Only this role may write to the domain, while the policy is active.
    pub required_role: Option<String>,
    pub active: bool,
    pub created_by: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub revision: i64,
}

#[derive(Debug, Clone, Default)]
pub struct NewPolicy {
    pub rule: String,
    pub domain: String,
    pub source_fact_ids: Vec<MemoryId>,
    pub required_role: Option<String>,
    /// Active if absent.
    pub active: Option<bool>,
}

/// What to change. The outer `None` leaves a field as it is; an inner `None` empties it.
#[derive(Debug, Clone, Default)]
pub struct PolicyPatch {
    pub rule: Option<String>,
    pub source_fact_ids: Option<Vec<MemoryId>>,
    pub required_role: Option<Option<String>>,
    pub active: Option<bool>,
}

#[derive(Debug, Clone, Default)]
pub struct PolicyFilter {
    pub domain: Option<String>,
    pub active: Option<bool>,
}

impl Mnemic {
    /// The policies of the domains that the caller may read, newest first.
    pub async fn list_policies(
        &self,
        principal: &Principal,
        filter: &PolicyFilter,
        page: &PageRequest,
    ) -> Result<Page<Policy>> {
        self.authorize(principal, &READ)?;
        check_optional_name("domain", filter.domain.as_deref())?;
        let (limit, position) = (page.limit()?, page.position(LIST)?);
        let readable = principal.access.readable();
        let mut found = self
            .store
            .list_policies(principal.scope(), filter, &readable, position, limit.saturating_add(1))
            .await?;
        self.conceal_sources(principal, &mut found).await?;
        Ok(Page::cut(LIST, found, limit, |policy| Position::After(policy.id.0)))
    }

    pub async fn create_policy(&self, caller: &Caller, new: NewPolicy) -> Result<Policy> {
        self.authorize(&caller.principal, &CREATE)?;
        check_content("rule", &new.rule, CONTENT_BYTES_MAX)?;
        check_domain("domain", Some(&new.domain))?;
        check_optional_name("required_role", new.required_role.as_deref())?;
        self.decide(caller, &CREATE, || {
            Box::pin(async {
                self.check_sources(caller, &new.source_fact_ids).await?;
                let now = self.clock.now();
                let policy = Policy {
                    id: PolicyId(self.ids.next(now)),
                    rule: new.rule.clone(),
                    domain: new.domain.clone(),
                    source_fact_ids: new.source_fact_ids.clone(),
                    required_role: new.required_role.clone(),
                    active: new.active.unwrap_or(true),
                    created_by: caller.principal.name().to_owned(),
                    created_at: now,
                    updated_at: now,
                    revision: 1,
                };
                let changes = vec![
                    self.domain_change(&caller.principal, &new.domain),
                    Change::AddPolicy(policy.clone()),
                ];
                Ok((policy, changes))
            })
        })
        .await
    }

    pub async fn update_policy(
        &self,
        caller: &Caller,
        id: PolicyId,
        patch: &PolicyPatch,
    ) -> Result<Policy> {
        self.authorize(&caller.principal, &UPDATE)?;
        if let Some(rule) = &patch.rule {
            check_content("rule", rule, CONTENT_BYTES_MAX)?;
        }
        let role = patch.required_role.as_ref().and_then(|role| role.as_deref());
        check_optional_name("required_role", role)?;
        let updated = self.decide(caller, &UPDATE, || {
            Box::pin(async {
                let found = self.store.lookup_policy(caller.scope(), id).await?;
                let mut policy = found
                    .filter(|policy| caller.principal.access.may_read(Some(&policy.domain)))
                    .ok_or_else(|| Error::not_found("policy"))?;
                if let Some(sources) = &patch.source_fact_ids {
                    self.check_sources(caller, sources).await?;
                    policy.source_fact_ids.clone_from(sources);
                }
                if let Some(rule) = &patch.rule {
                    policy.rule.clone_from(rule);
                }
                if let Some(role) = &patch.required_role {
                    policy.required_role.clone_from(role);
                }
                policy.active = patch.active.unwrap_or(policy.active);
                policy.updated_at = self.clock.now();
                policy.revision += 1;
                Ok((policy.clone(), vec![Change::UpdatePolicy(policy)]))
            })
        });
        let mut policy = updated.await?;
        self.conceal_sources(&caller.principal, std::slice::from_mut(&mut policy)).await?;
        Ok(policy)
    }

    /// A policy may rest on facts that not all of its readers can see.
    async fn conceal_sources(&self, principal: &Principal, policies: &mut [Policy]) -> Result<()> {
        let sources = policies.iter().flat_map(|policy| &policy.source_fact_ids).copied();
        let seen = self.readable_ids(principal, sources.collect()).await?;
        for policy in policies {
            policy.source_fact_ids.retain(|id| seen.contains(id));
        }
        Ok(())
    }

    /// A policy rests on facts that its author can see.
    async fn check_sources(&self, caller: &Caller, ids: &[MemoryId]) -> Result<()> {
        if ids.len() > SOURCES_MAX {
            let problem = format!("{} are more than the limit of {SOURCES_MAX}", ids.len());
            return Err(Error::invalid("source_fact_ids", problem));
        }
        let found = self.store.lookup_memories(caller.scope(), ids).await?;
        for id in ids {
            let visible = found
                .iter()
                .find(|m| m.id == *id && m.deleted_at.is_none() && caller.principal.may_read(m));
            match visible {
                None => {
                    let problem = format!("there is no memory {id}");
                    return Err(Error::invalid("source_fact_ids", problem));
                }
                Some(memory) if memory.kind != Kind::Fact => {
                    let problem = format!("{id} is a suggestion; promote it to a fact first");
                    return Err(Error::invalid("source_fact_ids", problem));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}
