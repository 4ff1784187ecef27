//! `mnemic doctor`: what is well, what is not, and what to do.

use std::time::Duration;

use anyhow::{Result, bail};
use mnemic_core::Kind;
use mnemic_core::clock::{Clock as _, SystemClock};
use mnemic_server::wire::PageResponse;
use mnemic_server::wire::memory::MemoryResponse;
use serde::{Deserialize, Serialize};

use super::OWN;
use crate::attach::Attachment;
use crate::client::Client;
use crate::config::CommonArgs;
use crate::home::Home;
use crate::model::Fetch;
use crate::output;

/// Clocks of one machine do not drift by more than this between two writes.
const DRIFT_MAX: Duration = Duration::from_mins(1);
const MODEL_PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Serialize, Deserialize)]
struct Report {
    findings: Vec<FindingLine>,
}

#[derive(Debug, Serialize, Deserialize)]
struct FindingLine {
    part: String,
    ok: bool,
    detail: String,
}

pub async fn run(common: &CommonArgs, thorough: bool, database: Option<&str>) -> Result<()> {
    let report = if let Some(url) = database {
        examine_database(url, thorough).await
    } else {
        let client = Client::new(Attachment::new(common, Fetch::CachedOnly)?);
        let report = examine(&client, thorough).await;
        client.attachment().close().await;
        report
    };
    if common.json {
        output::json(&report);
    } else {
        for finding in &report.findings {
            let mark = if finding.ok { "ok   " } else { "WRONG" };
            output::line(&format!("{mark}  {:<10}  {}", finding.part, finding.detail));
        }
    }
    let wrong = report.findings.iter().filter(|finding| !finding.ok).count();
    if wrong > 0 {
        bail!("{wrong} of {} checks found something wrong", report.findings.len());
    }
    Ok(())
}

/// The database as a server would find it: refused where it would refuse, with the same advice.
async fn examine_database(url: &str, thorough: bool) -> Report {
    let line = |part: &str, ok, detail| FindingLine { part: part.to_owned(), ok, detail };
    let store = match Home::open_database(url).await {
        Ok(store) => store,
        Err(e) => return Report { findings: vec![line("database", false, output::reason(&e))] },
    };
    let fit = "its versions, its schema, and a user to whom row-level security applies";
    let mut findings = vec![line("database", true, fit.to_owned())];
    match store.check(thorough).await {
        Ok(found) => findings.extend(found.into_iter().map(|f| line(&f.part, f.ok, f.detail))),
        Err(e) => findings.push(line("store", false, output::reason(&e.into()))),
    }
    store.close().await;
    Report { findings }
}

async fn examine(client: &Client, thorough: bool) -> Report {
    let wrong =
        |part: &str, detail: String| FindingLine { part: part.to_owned(), ok: false, detail };
    if let Err(e) = client.attachment().endpoint().await {
        return Report { findings: vec![wrong("store", unusable(&e, client))] };
    }
    client.attachment().await_model(MODEL_PATIENCE).await;
    let mut report = match client.get(&format!("/v1/doctor?thorough={thorough}")).await {
        Ok(report) => report,
        Err(e) => Report { findings: vec![wrong("server", output::reason(&e))] },
    };
    report.findings.push(match clock(client).await {
        Ok(detail) => FindingLine { part: "clock".to_owned(), ok: true, detail },
        Err(e) => wrong("clock", output::reason(&e)),
    });
    report
}

/// Why there is no store to ask, and what to do about it.
fn unusable(error: &anyhow::Error, client: &Client) -> String {
    let kind = error.downcast_ref().map(mnemic_core::Error::kind);
    match (kind, client.attachment().database(), error.source()) {
        (Some(Kind::Corrupt), Some(path), Some(cause)) => format!(
            "{} is damaged ({cause}) and was left as it is: copy it somewhere safe, then put a \
             backup in its place, or move it away to start anew",
            path.display(),
        ),
        _ => output::reason(error),
    }
}

/// Ids and validity follow the clock, so one that went back would mix up their order.
async fn clock(client: &Client) -> Result<String> {
    let newest: PageResponse<MemoryResponse> =
        client.get(&format!("{OWN}/memories?limit=1")).await?;
    let now = SystemClock.now();
    if let Some(memory) = newest.items.first() {
        let ahead = memory.created_at.duration_since(now);
        if ahead.unsigned_abs() > DRIFT_MAX && ahead.is_positive() {
            bail!(
                "the newest memory is from {}, which is yet to come: set the clock right",
                memory.created_at
            );
        }
    }
    Ok(format!("{now}, not behind the newest memory"))
}
