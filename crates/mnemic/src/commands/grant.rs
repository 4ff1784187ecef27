//! Commands about grants. The server takes them as a whole; a single one is set or removed by
//! reading all and putting them back.

use anyhow::{Result, bail};
use mnemic_server::wire::PageResponse;
use mnemic_server::wire::grant::{GrantWire, PermissionWire};

use super::OWN;
use crate::cli::{GrantCommand, PermissionArg};
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, command: GrantCommand) -> Result<()> {
    let mut grants = read(client).await?;
    match command {
        GrantCommand::List => {}
        GrantCommand::Set { role, domain, permission } => {
            let permission = permission.into();
            match grants.iter_mut().find(|grant| grant.role == role && grant.domain == domain) {
                Some(grant) => grant.permission = permission,
                None => grants.push(GrantWire { role, domain, permission }),
            }
            grants = write(client, &grants).await?;
        }
        GrantCommand::Remove { role, domain } => {
            let before = grants.len();
            grants.retain(|grant| grant.role != role || grant.domain != domain);
            if grants.len() == before {
                bail!("there is no grant of `{role}` for `{domain}`");
            }
            grants = write(client, &grants).await?;
        }
    }
    show(common, grants);
    Ok(())
}

async fn read(client: &Client) -> Result<Vec<GrantWire>> {
    let page: PageResponse<GrantWire> = client.get(&path()).await?;
    Ok(page.items)
}

async fn write(client: &Client, grants: &[GrantWire]) -> Result<Vec<GrantWire>> {
    let page: PageResponse<GrantWire> = client.put(&path(), &serde_json::to_value(grants)?).await?;
    Ok(page.items)
}

fn path() -> String {
    format!("{OWN}/grants")
}

fn show(common: &CommonArgs, items: Vec<GrantWire>) {
    if common.json {
        output::json(&PageResponse { items, next_cursor: None });
        return;
    }
    for GrantWire { role, domain, permission } in &items {
        output::line(&output::one_line(&format!("{role}  {domain}  {}", word(*permission))));
    }
}

pub(super) fn word(permission: PermissionWire) -> &'static str {
    match permission {
        PermissionWire::None => "none",
        PermissionWire::Read => "read",
        PermissionWire::Write => "write",
    }
}

impl From<PermissionArg> for PermissionWire {
    fn from(permission: PermissionArg) -> Self {
        match permission {
            PermissionArg::None => Self::None,
            PermissionArg::Read => Self::Read,
            PermissionArg::Write => Self::Write,
        }
    }
}
