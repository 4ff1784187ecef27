//! Domains: knowledge areas inside a workspace, which grants and policies are about.
//!
//! A domain comes to be when somebody makes it, or with the first record or grant that names it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Mnemic;
use crate::error::{Error, Result};
use crate::grant::{ANY, Permission};
use crate::principal::{Action, Caller, Operation, Principal};
use crate::store::Change;
use crate::text::{CONTENT_BYTES_MAX, check_content, check_optional_name};

static LIST: Operation = Operation::new("domain.list", Action::ReadMemories);
static CREATE: Operation = Operation::new("domain.create", Action::WriteMemories);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    pub name: String,
    pub description: Option<String>,
    pub created_by: String,
    pub created_at: Timestamp,
}

/// A name that something may have as its domain: `*` is none, since no grant could speak of it.
pub(crate) fn check_domain(field: &str, name: Option<&str>) -> Result<()> {
    check_optional_name(field, name)?;
    if name == Some(ANY) {
        return Err(Error::invalid(field, "`*` stands for every domain; name one"));
    }
    Ok(())
}

impl Mnemic {
    /// The domains that the caller may read, by name, with what it may do in each.
    pub async fn list_domains(&self, principal: &Principal) -> Result<Vec<(Domain, Permission)>> {
        self.authorize(principal, &LIST)?;
        let found = self.store.list_domains(principal.scope()).await?;
        let granted = found.into_iter().map(|domain| {
            let permission = principal.access.permission(Some(&domain.name));
            (domain, permission)
        });
        Ok(granted.filter(|(_, permission)| *permission >= Permission::Read).collect())
    }

    /// Makes a domain. One that was only named so far gets its description.
    pub async fn create_domain(
        &self,
        caller: &Caller,
        name: &str,
        description: Option<&str>,
    ) -> Result<Domain> {
        self.authorize(&caller.principal, &CREATE)?;
        check_domain("name", Some(name))?;
        if let Some(description) = description {
            check_content("description", description, CONTENT_BYTES_MAX)?;
        }
        self.decide(caller, &CREATE, || {
            Box::pin(async {
                self.check_write(&caller.principal, name).await?;
                let known = self.store.find_domain(caller.scope(), name).await?;
                let domain = match known {
                    Some(Domain { description: Some(_), .. }) => {
                        let detail = format!("a domain called `{name}` exists already");
                        return Err(Error::conflict(detail));
                    }
                    Some(known) => Domain { description: description.map(str::to_owned), ..known },
                    None => self.new_domain(&caller.principal, name, description),
                };
                Ok((domain.clone(), vec![Change::PutDomain(domain)]))
            })
        })
        .await
    }

    /// Sees to it that a domain that is named also exists.
    pub(crate) fn domain_change(&self, principal: &Principal, name: &str) -> Change {
        Change::EnsureDomain(self.new_domain(principal, name, None))
    }

    fn new_domain(&self, principal: &Principal, name: &str, description: Option<&str>) -> Domain {
        Domain {
            name: name.to_owned(),
            description: description.map(str::to_owned),
            created_by: principal.name().to_owned(),
            created_at: self.clock.now(),
        }
    }
}
