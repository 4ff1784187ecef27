//! Tools over background work.

use std::sync::Arc;

use mnemic_core::principal::Caller;
use mnemic_core::{Mnemic, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::input::{Beside, Nothing, Subject};
use super::tool::{Effect, Reply, Tool};
use crate::wire::PageResponse;
use crate::wire::job::{JobReportResponse, JobResponse, RunJobRequest};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "jobs.list",
            "List background jobs",
            Effect::Read,
            "Show the background jobs of this workspace: how often each runs, how its last run \
             went, and how far it is behind.",
            list,
        ),
        Tool::new(
            "jobs.run",
            "Run a background job",
            Effect::Set,
            "Run a background job now and wait for it; with dry_run, only say how many records it \
             would change. Needs the role admin or member.",
            run,
        ),
    ]
}

async fn list(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    _: Nothing,
) -> Result<Reply<PageResponse<JobResponse>>> {
    let states = mnemic.list_jobs(&caller.principal).await?;
    let items: Vec<_> = states.into_iter().map(JobResponse::from).collect();
    let lines: Vec<_> = items.iter().map(line).collect();
    Ok(Reply { value: PageResponse { items, next_cursor: None }, text: lines.join("\n") })
}

fn line(job: &JobResponse) -> String {
    let last = match &job.last_run {
        None => "never run".to_owned(),
        Some(run) => match &run.error {
            None => format!("done at {}, {} records changed", run.finished_at, run.changed),
            Some(error) => format!("failed at {}: {error}", run.finished_at),
        },
    };
    let now = if job.running_since.is_some() { ", running now" } else { "" };
    format!("{}: {last}{now}", job.name)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfJob {
    /// One of those that jobs_list shows.
    name: String,
}

impl Subject for OfJob {
    const FIELDS: &'static [&'static str] = &["name"];
}

async fn run(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: Beside<OfJob, RunJobRequest>,
) -> Result<Reply<JobReportResponse>> {
    let name = &input.subject.name;
    let report = mnemic.run_job(&caller.principal, name, input.body.dry_run).await?;
    let value = JobReportResponse::from(report);
    let would = if value.dry_run { "would change" } else { "changed" };
    let text = format!("{name} {would} {} records.", value.changed);
    Ok(Reply { value, text })
}
