//! Grants: what a role may do in a domain. The borders inside a workspace.
//!
//! A record without a domain is open to every role of its workspace, and so is a domain for which
//! no grant speaks. The most particular grant decides: that of the role and the domain, then that
//! of all roles (`*`) for the domain, then that of the role for all domains (`*`), then that of
//! all for all. Admins are bound by none, because somebody must be able to change them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::Mnemic;
use crate::error::{Error, Result};
use crate::ids::MemoryId;
use crate::memory::Memory;
use crate::principal::{ADMIN, AGENT, Action, Caller, MEMBER, Operation, Principal};
use crate::store::Change;
use crate::text::check_name;

pub const GRANTS_MAX: usize = 1_000;
/// Stands for every role, or every domain.
pub const ANY: &str = "*";

static LIST: Operation = Operation::new("grant.list", Action::ReadMemories);
static SET: Operation = Operation::new("grant.set", Action::ManageAccess);

/// What a grant allows; each includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// As if the domain were empty.
    None,
    /// Search and retrieve.
    Read,
    /// Create, change, replace and forget.
    Write,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub role: String,
    pub domain: String,
    pub permission: Permission,
}

/// All grants that concern one role, ready to be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    elsewhere: Permission,
    domains: BTreeMap<String, Permission>,
}

impl Default for Access {
    /// No borders.
    fn default() -> Self {
        Self { elsewhere: Permission::Write, domains: BTreeMap::new() }
    }
}

impl Access {
    pub fn of(role: &str, grants: &[Grant]) -> Self {
        let mut access = Self::default();
        if role == ADMIN {
            return access;
        }
        // From the general to the particular, so that the last word is the most particular.
        for (its_role, any_domain) in [(ANY, true), (role, true), (ANY, false), (role, false)] {
            let concerned = grants
                .iter()
                .filter(|grant| grant.role == its_role && (grant.domain == ANY) == any_domain);
            for grant in concerned {
                if any_domain {
                    access.elsewhere = grant.permission;
                } else {
                    access.domains.insert(grant.domain.clone(), grant.permission);
                }
            }
        }
        access
    }

    pub fn permission(&self, domain: Option<&str>) -> Permission {
        let Some(domain) = domain else { return Permission::Write };
        self.domains.get(domain).copied().unwrap_or(self.elsewhere)
    }

    pub fn may_read(&self, domain: Option<&str>) -> bool {
        self.permission(domain) >= Permission::Read
    }

    pub fn readable(&self) -> Readable {
        let open = self.elsewhere >= Permission::Read;
        let named =
            self.domains.iter().filter(|(_, granted)| (**granted >= Permission::Read) != open);
        Readable { listed: !open, domains: named.map(|(domain, _)| domain.clone()).collect() }
    }
}

/// Which domains can be seen: those that are listed, or those that are not. Records without a
/// domain can always be seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Readable {
    pub listed: bool,
    pub domains: BTreeSet<String>,
}

impl Readable {
    pub fn is_everything(&self) -> bool {
        !self.listed && self.domains.is_empty()
    }
}

impl Mnemic {
    /// The grants that concern the caller: admins see all of them, others what they may see.
    pub async fn list_grants(&self, principal: &Principal) -> Result<Vec<Grant>> {
        self.authorize(principal, &LIST)?;
        let mut grants = self.own_workspace(principal).await?.grants;
        if principal.role != ADMIN {
            grants.retain(|grant| {
                (grant.role == principal.role || grant.role == ANY)
                    && (grant.domain == ANY || principal.access.may_read(Some(&grant.domain)))
            });
        }
        Ok(grants)
    }

    /// Puts these in the place of all grants there were.
    pub async fn set_grants(
        &self,
        principal: &Principal,
        grants: Vec<Grant>,
    ) -> Result<Vec<Grant>> {
        self.authorize(principal, &SET)?;
        self.check_grants(principal, &grants).await?;
        let started = self.clock.now();
        let set = self
            .retry_stale(|| {
                Box::pin(async {
                    let mut workspace = self.own_workspace(principal).await?;
                    workspace.grants.clone_from(&grants);
                    workspace.revision += 1;
                    workspace.updated_at = self.clock.now();
                    self.store.update_workspace(&workspace).await?;
                    Ok(workspace.grants)
                })
            })
            .await?;
        let domains: BTreeSet<_> = set.iter().map(|grant| grant.domain.as_str()).collect();
        let domains = domains.into_iter().filter(|domain| *domain != ANY);
        let known = domains.map(|domain| self.domain_change(principal, domain)).collect();
        self.store.commit(principal.scope(), known).await?;
        self.note_settings(principal, &SET, json!({ "grants": set }), started);
        Ok(set)
    }

    async fn check_grants(&self, principal: &Principal, grants: &[Grant]) -> Result<()> {
        if grants.len() > GRANTS_MAX {
            let problem = format!("{} are more than the limit of {GRANTS_MAX}", grants.len());
            return Err(Error::invalid("grants", problem));
        }
        let mut roles = self.store.list_roles(principal.workspace_id).await?;
        roles.extend([ADMIN, MEMBER, AGENT, ANY].map(str::to_owned));
        let mut seen = BTreeSet::new();
        for (i, Grant { role, domain, .. }) in grants.iter().enumerate() {
            let at = |field: &str| format!("[{i}].{field}");
            check_name(&at("role"), role)?;
            check_name(&at("domain"), domain)?;
            if !roles.contains(role) {
                let known = roles.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
                let problem = format!(
                    "no token of this workspace has the role `{role}`; known are {known}; make a \
                     token with it first"
                );
                return Err(Error::invalid(&at("role"), problem));
            }
            if role == ADMIN {
                let problem = "admins are bound by no grant; leave it out";
                return Err(Error::invalid(&at("role"), problem));
            }
            if !seen.insert((role, domain)) {
                let problem = format!("`{role}` and `{domain}` are granted twice");
                return Err(Error::invalid(&at("role"), problem));
            }
        }
        Ok(())
    }

    /// Refuses changes in a domain that the caller may not write to. Every decided change passes
    /// here.
    pub(crate) async fn check_domains(&self, caller: &Caller, changes: &[Change]) -> Result<()> {
        let domains: BTreeSet<_> = changes.iter().filter_map(Change::domain).collect();
        for domain in domains {
            self.check_write(&caller.principal, domain).await?;
        }
        Ok(())
    }

    pub(crate) async fn check_write(&self, principal: &Principal, domain: &str) -> Result<()> {
        self.refuse_write(principal, domain).await?.map_or(Ok(()), Err)
    }

    /// What there is to say against writing to a domain, if anything.
    pub(crate) async fn refuse_write(
        &self,
        principal: &Principal,
        domain: &str,
    ) -> Result<Option<Error>> {
        let Principal { role, access, .. } = principal;
        if access.permission(Some(domain)) < Permission::Write {
            return Ok(Some(Error::denied(format!(
                "the role `{role}` may not write to the domain `{domain}`: that needs the \
                 permission `write`"
            ))));
        }
        if role == ADMIN {
            return Ok(None);
        }
        let gates = self.store.list_gates(principal.scope(), domain).await?;
        if gates.is_empty() || gates.contains(role) {
            return Ok(None);
        }
        Ok(Some(Error::denied(format!(
            "the role `{role}` may not write to the domain `{domain}`: a policy reserves that for \
             the role {}",
            gates.iter().map(|gate| format!("`{gate}`")).collect::<Vec<_>>().join(" or ")
        ))))
    }

    /// Takes the ids of successors that the caller may not see out of memories that it may. Only
    /// for what goes out: a memory that is written back keeps its successor.
    pub(crate) async fn conceal(
        &self,
        principal: &Principal,
        memories: Vec<&mut Memory>,
    ) -> Result<()> {
        let successors: Vec<_> = memories.iter().filter_map(|m| m.superseded_by).collect();
        let seen = self.readable_ids(principal, successors).await?;
        for memory in memories {
            memory.superseded_by = memory.superseded_by.filter(|id| seen.contains(id));
        }
        Ok(())
    }

    /// Those of the ids that the caller may know of.
    pub(crate) async fn readable_ids(
        &self,
        principal: &Principal,
        ids: Vec<MemoryId>,
    ) -> Result<BTreeSet<MemoryId>> {
        if ids.is_empty() || principal.access.readable().is_everything() {
            return Ok(ids.into_iter().collect());
        }
        let found = self.store.lookup_memories(principal.scope(), &ids).await?;
        Ok(found.iter().filter(|m| principal.may_read(m)).map(|m| m.id).collect())
    }
}

impl Principal {
    pub(crate) fn may_read(&self, memory: &Memory) -> bool {
        self.access.may_read(memory.domain.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(role: &str, domain: &str, permission: Permission) -> Grant {
        Grant { role: role.to_owned(), domain: domain.to_owned(), permission }
    }

    #[test]
    fn without_a_grant_nothing_is_closed() {
        let access = Access::of("intern", &[grant("agent", "security", Permission::None)]);
        assert_eq!(access.permission(Some("security")), Permission::Write);
        assert_eq!(access.readable(), Readable::default());
    }

    #[test]
    fn the_most_particular_grant_decides() {
        let grants = [
            grant("intern", "security", Permission::Read),
            grant("*", "security", Permission::None),
            grant("intern", "*", Permission::None),
            grant("*", "*", Permission::Write),
            grant("*", "api", Permission::Write),
        ];
        let intern = Access::of("intern", &grants);
        assert_eq!(intern.permission(Some("security")), Permission::Read);
        assert_eq!(intern.permission(Some("api")), Permission::Write);
        assert_eq!(intern.permission(Some("other")), Permission::None);
        assert_eq!(intern.permission(None), Permission::Write);
        let listed = ["api", "security"].map(str::to_owned).into();
        assert_eq!(intern.readable(), Readable { listed: true, domains: listed });
        let agent = Access::of("agent", &grants);
        assert_eq!(agent.permission(Some("security")), Permission::None);
        assert_eq!(agent.permission(Some("other")), Permission::Write);
        let hidden = ["security"].map(str::to_owned).into();
        assert_eq!(agent.readable(), Readable { listed: false, domains: hidden });
        assert_eq!(Access::of(ADMIN, &grants), Access::default());
    }
}
