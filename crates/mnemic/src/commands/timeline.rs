//! The timeline on the command line.

use anyhow::Result;
use mnemic_server::wire::PageResponse;
use mnemic_server::wire::timeline::EventResponse;

use super::{OWN, encoded};
use crate::cli::TimelineArgs;
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, args: TimelineArgs) -> Result<()> {
    let mut wishes = Vec::new();
    for (name, value) in [
        ("channel", args.channel),
        ("type", args.word),
        ("since", args.since),
        ("until", args.until),
        ("cursor", args.cursor),
    ] {
        wishes.extend(value.map(|value| format!("{name}={}", encoded(&value))));
    }
    wishes.extend(args.limit.map(|limit| format!("limit={limit}")));
    let path = format!("{OWN}/timeline?{}", wishes.join("&"));
    let page: PageResponse<EventResponse> = client.get(&path).await?;
    if common.json {
        output::json(&page);
        return Ok(());
    }
    for event in &page.items {
        let EventResponse { at, event: happened, record_type, record_id, summary, .. } = event;
        let line = format!("{at}  {happened}  {record_type}  {record_id}  {summary}");
        output::line(&output::one_line(&line));
    }
    if let Some(cursor) = page.next_cursor {
        output::note(&format!("there is more: --cursor {cursor}"));
    }
    Ok(())
}
