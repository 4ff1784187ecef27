//! Commands about contradictions that somebody is to decide.

use anyhow::Result;
use mnemic_server::wire::PageResponse;
use mnemic_server::wire::review::{
    ContradictionResponse, DecisionWire, ResolveRequest, ReviewResponse,
};

use super::{OWN, encoded};
use crate::cli::{DecisionArg, ReviewCommand};
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, command: ReviewCommand) -> Result<()> {
    let path = format!("{OWN}/reviews");
    match command {
        ReviewCommand::List { decided, limit, cursor } => {
            let mut wishes = vec![format!("decided={decided}")];
            wishes.extend(limit.map(|limit| format!("limit={limit}")));
            wishes.extend(cursor.map(|cursor| format!("cursor={}", encoded(&cursor))));
            let path = format!("{path}?{}", wishes.join("&"));
            let page: PageResponse<ContradictionResponse> = client.get(&path).await?;
            if common.json {
                output::json(&page);
                return Ok(());
            }
            for ContradictionResponse { id, topic, old, new, .. } in &page.items {
                let line = format!("{id}  {topic}  old: {}  new: {}", old.content, new.content);
                output::line(&output::one_line(&line));
            }
            if let Some(cursor) = page.next_cursor {
                output::note(&format!("there is more: --cursor {cursor}"));
            }
            Ok(())
        }
        ReviewCommand::Resolve { id, decision } => {
            let request = serde_json::to_value(ResolveRequest { decision: decision.into() })?;
            let review: ReviewResponse =
                client.post(&format!("{path}/{id}/resolve"), &request).await?;
            if common.json {
                output::json(&review);
            } else {
                output::line(&review.id.to_string());
            }
            Ok(())
        }
    }
}

impl From<DecisionArg> for DecisionWire {
    fn from(decision: DecisionArg) -> Self {
        match decision {
            DecisionArg::KeepNew => Self::KeepNew,
            DecisionArg::KeepOld => Self::KeepOld,
            DecisionArg::KeepBoth => Self::KeepBoth,
        }
    }
}
