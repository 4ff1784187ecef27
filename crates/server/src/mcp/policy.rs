//! Tools over policies.

use std::sync::Arc;

use mnemic_core::ids::PolicyId;
use mnemic_core::page::PageRequest;
use mnemic_core::policy::{PolicyFilter, PolicyPatch};
use mnemic_core::principal::Caller;
use mnemic_core::{Mnemic, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::input::{Beside, Subject};
use super::text;
use super::tool::{Effect, Reply, Tool};
use crate::wire::PageResponse;
use crate::wire::policy::{PolicyPatchRequest, PolicyRequest, PolicyResponse};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "policy.list",
            "List policies",
            Effect::Read,
            "Show the rules of the domains that you may read, newest first.",
            list,
        ),
        Tool::new(
            "policy.create",
            "Make a policy",
            Effect::Add,
            "Write down a rule of a domain and the facts it derives from. With required_role it \
             also reserves writing to the domain for that role.",
            create,
        ),
        Tool::new(
            "policy.update",
            "Change a policy",
            Effect::Destroy,
            "Change a policy's rule, sources or required_role, or switch it on or off (active). \
             `clear` empties required_role.",
            update,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListInput {
    domain: Option<String>,
    /// Only those that hold, or only those that do not.
    active: Option<bool>,
    /// 1 to 200; 50 if absent.
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

async fn list(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: ListInput,
) -> Result<Reply<PageResponse<PolicyResponse>>> {
    let ListInput { domain, active, limit, cursor } = input;
    let (filter, page) = (PolicyFilter { domain, active }, PageRequest { limit, cursor });
    let found = mnemic.list_policies(&caller.principal, &filter, &page).await?;
    let value = PageResponse::<PolicyResponse>::of(found);
    let text = text::lines(value.items.iter().map(line), value.next_cursor.as_deref());
    Ok(Reply { value, text })
}

fn line(policy: &PolicyResponse) -> String {
    let PolicyResponse { id, rule, domain, .. } = policy;
    let state = if policy.active { "" } else { ", not active" };
    let reserved = policy.required_role.as_ref();
    let reserved =
        reserved.map_or_else(String::new, |role| format!(", written by {}", text::quoted(role)));
    format!("{id} in {}{reserved}{state}: {}", text::quoted(domain), text::quoted(rule))
}

async fn create(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: PolicyRequest,
) -> Result<Reply<PolicyResponse>> {
    let made = mnemic.create_policy(&caller, input.into()).await?;
    let text = format!("Made the policy {}.", made.id);
    Ok(Reply { value: made.into(), text })
}

/// What `clear` can empty. A schema without null leaves no other way to ask for it.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Clearable {
    RequiredRole,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfPolicy {
    /// The policy's id.
    id: Uuid,
    /// Fields to empty.
    #[serde(default)]
    clear: Vec<Clearable>,
}

impl Subject for OfPolicy {
    const FIELDS: &'static [&'static str] = &["id", "clear"];
}

async fn update(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: Beside<OfPolicy, PolicyPatchRequest>,
) -> Result<Reply<PolicyResponse>> {
    let OfPolicy { id, clear } = input.subject;
    let mut patch = PolicyPatch::from(input.body);
    for Clearable::RequiredRole in clear {
        patch.required_role = Some(None);
    }
    let policy = mnemic.update_policy(&caller, PolicyId(id), &patch).await?;
    let text = format!("Changed the policy {}.", policy.id);
    Ok(Reply { value: policy.into(), text })
}
