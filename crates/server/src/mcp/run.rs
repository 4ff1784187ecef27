//! The tool that ends a run, so that its citations count.

use std::sync::Arc;

use mnemic_core::principal::Caller;
use mnemic_core::{Mnemic, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::input::{Beside, Subject};
use super::tool::{Effect, Reply, Tool};
use crate::wire::run::{FinishRunRequest, FinishRunResponse};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "run.finish",
            "Finish a run",
            Effect::Set,
            "Call once when a task has ended, with your final answer as text: each memory cited \
             in it as [mem:<uuid>] counts as used, which decides what is pinned and what is \
             culled. Drafts do not count. Calling again counts nothing twice.",
            finish,
        )
        .daily(),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfRun {
    /// A name of your choice that is unique to this task, such as a UUID.
    run_id: String,
}

impl Subject for OfRun {
    const FIELDS: &'static [&'static str] = &["run_id"];
}

async fn finish(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: Beside<OfRun, FinishRunRequest>,
) -> Result<Reply<FinishRunResponse>> {
    let FinishRunRequest { text, outcome } = input.body;
    let run_id = &input.subject.run_id;
    let citations = mnemic.finish_run(&caller, run_id, &text, outcome.as_deref()).await?;
    let value = FinishRunResponse::from(citations);
    let mut text = format!("Run finished; {} citations counted.", value.counted.len());
    if !value.ignored.is_empty() {
        let ignored: Vec<_> = value.ignored.iter().map(|ignored| ignored.id.as_str()).collect();
        text = format!("{text} Not counted, as `ignored` explains: {}.", ignored.join(", "));
    }
    Ok(Reply { value, text })
}
