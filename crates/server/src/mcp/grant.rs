//! Tools over grants.

use std::sync::Arc;

use mnemic_core::grant::Grant;
use mnemic_core::principal::Caller;
use mnemic_core::{Mnemic, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::input::Nothing;
use super::text;
use super::tool::{Effect, Reply, Tool};
use crate::wire::PageResponse;
use crate::wire::grant::GrantWire;

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "grant.list",
            "List grants",
            Effect::Read,
            "Show which role may read or write which domain. Admins see all grants, others those \
             that concern them.",
            list,
        ),
        Tool::new(
            "grant.set",
            "Set grants",
            Effect::Destroy,
            "Replace all grants of this workspace by these: read them first and let the user \
             confirm. `*` stands for every role or domain, and the most particular grant decides. \
             Needs the role admin.",
            set,
        ),
    ]
}

async fn list(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    _: Nothing,
) -> Result<Reply<PageResponse<GrantWire>>> {
    Ok(reply(mnemic.list_grants(&caller.principal).await?))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SetInput {
    /// All that shall hold from now on.
    grants: Vec<GrantWire>,
}

async fn set(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: SetInput,
) -> Result<Reply<PageResponse<GrantWire>>> {
    let grants = input.grants.into_iter().map(Into::into).collect();
    Ok(reply(mnemic.set_grants(&caller.principal, grants).await?))
}

fn reply(grants: Vec<Grant>) -> Reply<PageResponse<GrantWire>> {
    let items: Vec<_> = grants.into_iter().map(GrantWire::from).collect();
    let text = text::lines(items.iter().map(line), None);
    Reply { value: PageResponse { items, next_cursor: None }, text }
}

fn line(grant: &GrantWire) -> String {
    let GrantWire { role, domain, permission } = grant;
    let may = text::permission(*permission);
    format!("{} in {}: {may}", text::quoted(role), text::quoted(domain))
}
