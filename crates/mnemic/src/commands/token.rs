//! Commands about tokens.

use anyhow::Result;
use mnemic_server::wire::PageResponse;
use mnemic_server::wire::token::{NewTokenResponse, TokenRequest, TokenResponse};

use super::encoded;
use crate::cli::TokenCommand;
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, command: TokenCommand) -> Result<()> {
    match command {
        TokenCommand::Create { workspace, role, agent, user, profile } => {
            let profile = profile.map(Into::into);
            let request = TokenRequest { workspace, role, agent, user, operator: None, profile };
            let made: NewTokenResponse =
                client.post("/v1/tokens", &serde_json::to_value(request)?).await?;
            if common.json {
                output::json(&made);
            } else {
                output::line(&made.token);
            }
            Ok(())
        }
        TokenCommand::List => list(client, common).await,
        TokenCommand::Revoke { id } => {
            client.delete(&format!("/v1/tokens/{id}")).await?;
            if common.json {
                output::json(&serde_json::json!({"id": id, "revoked": true}));
            } else {
                output::line(&format!("revoked {id}"));
            }
            Ok(())
        }
    }
}

async fn list(client: &Client, common: &CommonArgs) -> Result<()> {
    let mut tokens: Vec<TokenResponse> = Vec::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/v1/tokens?limit=200{cursor}");
        let page: PageResponse<TokenResponse> = client.get(&path).await?;
        tokens.extend(page.items);
        let Some(next) = page.next_cursor else { break };
        cursor = format!("&cursor={}", encoded(&next));
    }
    if common.json {
        output::json(&tokens);
        return Ok(());
    }
    for token in &tokens {
        let who = token.agent.as_deref().or(token.user.as_deref()).unwrap_or("-");
        let state = if token.revoked_at.is_some() { "revoked" } else { "valid" };
        let operator = if token.operator { " operator" } else { "" };
        output::line(&format!(
            "{}  {}…  {}  {}{operator}  {who}  {state}",
            token.id, token.prefix, token.workspace, token.role
        ));
    }
    Ok(())
}
