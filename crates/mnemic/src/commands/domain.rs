//! Commands about domains.

use anyhow::Result;
use mnemic_server::wire::PageResponse;
use mnemic_server::wire::domain::{DomainRequest, DomainResponse};

use super::OWN;
use crate::cli::DomainCommand;
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, command: DomainCommand) -> Result<()> {
    let path = format!("{OWN}/domains");
    match command {
        DomainCommand::List => {
            let page: PageResponse<DomainResponse> = client.get(&path).await?;
            if common.json {
                output::json(&page);
                return Ok(());
            }
            for domain in &page.items {
                output::line(&line(domain));
            }
            Ok(())
        }
        DomainCommand::Create { name, description } => {
            let request = serde_json::to_value(DomainRequest { name, description })?;
            let made: DomainResponse = client.post(&path, &request).await?;
            if common.json {
                output::json(&made);
            } else {
                output::line(&output::one_line(&made.name));
            }
            Ok(())
        }
    }
}

fn line(domain: &DomainResponse) -> String {
    let may = super::grant::word(domain.permission);
    let description = domain.description.as_deref().unwrap_or_default();
    output::one_line(format!("{}  {may}  {description}", domain.name).trim_end())
}
