//! `mnemic recall`.

use std::time::Duration;

use anyhow::{Context as _, Result};
use mnemic_server::wire::recall::{RecallItem, RecallRequest, RecallResponse};

use super::OWN;
use crate::cli::RecallArgs;
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

/// Loading a cached model takes well under this.
const MODEL_PATIENCE: Duration = Duration::from_secs(10);

pub async fn recall(client: &Client, common: &CommonArgs, args: RecallArgs) -> Result<()> {
    let as_of = args
        .as_of
        .map(|text| text.parse().with_context(|| format!("--as-of: `{text}` is not a time")))
        .transpose()?;
    let request = RecallRequest {
        query: args.query,
        limit: args.limit,
        channel: args.channel,
        as_of,
        explain: Some(args.explain),
        ..RecallRequest::default()
    };
    client.attachment().endpoint().await?;
    client.attachment().await_model(MODEL_PATIENCE).await;
    let found: RecallResponse =
        client.post(&format!("{OWN}/recall"), &serde_json::to_value(request)?).await?;
    if common.json {
        output::json(&found);
        return Ok(());
    }
    for degraded in &found.degraded {
        output::note(&format!("note: {degraded}"));
    }
    if found.items.is_empty() {
        output::note("nothing found");
    }
    for item in &found.items {
        show(item);
    }
    Ok(())
}

fn show(item: &RecallItem) {
    let kind = if item.authoritative { "fact  " } else { "memory" };
    let text = output::one_line(&item.text);
    output::line(&format!("{:.3}  {kind}  {text}  [mem:{}]", item.score, item.id));
    let Some(why) = &item.why else { return };
    for found in &why.found_by {
        let technique = match found.technique {
            mnemic_server::wire::recall::TechniqueWire::Words => "words",
            mnemic_server::wire::recall::TechniqueWire::Vectors => "vectors",
        };
        output::line(&format!(
            "         {technique}: rank {}, score {:.3}",
            found.rank, found.score
        ));
    }
    if !why.matched_words.is_empty() {
        output::line(&format!("         matched: {}", why.matched_words.join(", ")));
    }
    let f = &why.factors;
    output::line(&format!(
        "         factors: temporal {:.2}, recency {:.2}, weight {:.2}, confidence {:.2}, \
         kind {:.2}, pinned {:.2}",
        f.temporal, f.recency, f.weight, f.confidence, f.kind, f.pinned
    ));
}
