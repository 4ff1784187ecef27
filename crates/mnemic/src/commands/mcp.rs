//! `mnemic mcp`: MCP on standard input and output, whoever owns the store.

use anyhow::Result;

use crate::attach::{Attachment, Endpoint};
use crate::bridge::{self, Connect};
use crate::config::CommonArgs;
use crate::model::Fetch;

pub async fn run(common: &CommonArgs) -> Result<()> {
    let attachment = Attachment::new(common, Fetch::Allowed)?;
    let done = bridge::run(tokio::io::stdin(), tokio::io::stdout(), attachment.clone()).await;
    attachment.close().await;
    done
}

impl Connect for Attachment {
    async fn endpoint(&self) -> Result<Endpoint> {
        Self::endpoint(self).await
    }
}
