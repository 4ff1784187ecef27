//! Commands about policies.

use anyhow::Result;
use mnemic_server::wire::PageResponse;
use mnemic_server::wire::policy::{PolicyPatchRequest, PolicyRequest, PolicyResponse};

use super::{OWN, encoded, text_or_stdin};
use crate::cli::{PolicyCommand, PolicyListArgs};
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, command: PolicyCommand) -> Result<()> {
    let path = format!("{OWN}/policies");
    match command {
        PolicyCommand::List(args) => list(client, common, args).await,
        PolicyCommand::Create { rule, domain, source, required_role, inactive } => {
            let request = PolicyRequest {
                rule: text_or_stdin(rule)?,
                domain,
                source_fact_ids: (!source.is_empty()).then_some(source),
                required_role,
                active: inactive.then_some(false),
            };
            let made: PolicyResponse = client.post(&path, &serde_json::to_value(request)?).await?;
            if common.json {
                output::json(&made);
            } else {
                output::line(&made.id.to_string());
            }
            Ok(())
        }
        PolicyCommand::Update { id, rule, source, required_role, no_required_role, active } => {
            let required_role = if no_required_role { Some(None) } else { required_role.map(Some) };
            let request = PolicyPatchRequest {
                rule: rule.map(text_or_stdin).transpose()?,
                source_fact_ids: (!source.is_empty()).then_some(source),
                required_role,
                active,
            };
            let request = serde_json::to_value(request)?;
            let policy: PolicyResponse = client.patch(&format!("{path}/{id}"), &request).await?;
            if common.json {
                output::json(&policy);
            } else {
                output::line(&line(&policy));
            }
            Ok(())
        }
    }
}

async fn list(client: &Client, common: &CommonArgs, args: PolicyListArgs) -> Result<()> {
    let mut wishes = Vec::new();
    wishes.extend(args.domain.map(|domain| format!("domain={}", encoded(&domain))));
    wishes.extend(args.active.map(|active| format!("active={active}")));
    wishes.extend(args.limit.map(|limit| format!("limit={limit}")));
    wishes.extend(args.cursor.map(|cursor| format!("cursor={}", encoded(&cursor))));
    let path = format!("{OWN}/policies?{}", wishes.join("&"));
    let page: PageResponse<PolicyResponse> = client.get(&path).await?;
    if common.json {
        output::json(&page);
        return Ok(());
    }
    for policy in &page.items {
        output::line(&line(policy));
    }
    if let Some(cursor) = page.next_cursor {
        output::note(&format!("there is more: --cursor {cursor}"));
    }
    Ok(())
}

fn line(policy: &PolicyResponse) -> String {
    let PolicyResponse { id, domain, rule, .. } = policy;
    let state = if policy.active { "active" } else { "inactive" };
    let role = policy.required_role.as_deref().unwrap_or("-");
    output::one_line(&format!("{id}  {domain}  {state}  {role}  {rule}"))
}
