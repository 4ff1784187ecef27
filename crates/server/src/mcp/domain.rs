//! Tools over domains.

use std::sync::Arc;

use mnemic_core::grant::Permission;
use mnemic_core::principal::Caller;
use mnemic_core::{Mnemic, Result};

use super::input::Nothing;
use super::text;
use super::tool::{Effect, Reply, Tool};
use crate::wire::PageResponse;
use crate::wire::domain::{DomainRequest, DomainResponse};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "domain.list",
            "List domains",
            Effect::Read,
            "Show the knowledge areas of this workspace that you may read, and whether you may \
             write to each.",
            list,
        ),
        Tool::new(
            "domain.create",
            "Make a domain",
            Effect::Add,
            "Make a knowledge area, such as security, that memories and policies can belong to \
             and that access can be granted for.",
            create,
        ),
    ]
}

async fn list(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    _: Nothing,
) -> Result<Reply<PageResponse<DomainResponse>>> {
    let found = mnemic.list_domains(&caller.principal).await?;
    let items: Vec<_> = found.into_iter().map(DomainResponse::from).collect();
    let text = text::lines(items.iter().map(line), None);
    Ok(Reply { value: PageResponse { items, next_cursor: None }, text })
}

fn line(domain: &DomainResponse) -> String {
    let name = text::quoted(&domain.name);
    let may = text::permission(domain.permission);
    match &domain.description {
        None => format!("{name} ({may})"),
        Some(description) => format!("{name} ({may}): {}", text::quoted(description)),
    }
}

async fn create(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: DomainRequest,
) -> Result<Reply<DomainResponse>> {
    let made = mnemic.create_domain(&caller, &input.name, input.description.as_deref()).await?;
    let text = format!("Made the domain {}.", text::quoted(&made.name));
    // Whoever could make it may write to it.
    Ok(Reply { value: (made, Permission::Write).into(), text })
}
