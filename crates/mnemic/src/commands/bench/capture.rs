//! What it adds to a call over HTTP that it is captured as an action.
//!
//! The same requests with the same token, by turns with and without the header that names a
//! session: an operator's own are captured only with it.

use std::time::Instant;

use anyhow::Result;
use serde_json::{Value, json};

use super::report::{Report, Target, median};
use super::stage::{Api, Stage};
use super::{RecallArgs, load};
use crate::config::{CommonArgs, Provider};

const WARM_UP: usize = 20;
/// A captured call takes no longer than so many that are not.
const TIMES_MAX: f64 = 1.05;

pub async fn run(common: &CommonArgs, args: &RecallArgs) -> Result<Report> {
    let mut stage = Stage::new(common, args.store.dir.as_deref())?;
    stage.config.embedding.provider = Provider::Local;
    load::fill(&stage, stage.model().await?.stamp(), args.store.items).await?;
    let served = stage.serve().await?;
    served.ready().await?;
    let measured = measure_all(&served.api, args.queries).await;
    served.instance.stop().await;
    let mut report = Report::new("capture", format!("{} memories", args.store.items));
    for (name, calls) in measured? {
        report.add(format!("{name}, ms"), median(&calls.plain));
        report.add(format!("{name}, captured, ms"), median(&calls.captured));
        let times = median(&calls.captured) / median(&calls.plain);
        report.promise(format!("{name}, captured / not"), times, Target::AtMost(TIMES_MAX));
    }
    Ok(report)
}

/// How long each took, in milliseconds.
#[derive(Default)]
struct Calls {
    plain: Vec<f64>,
    captured: Vec<f64>,
}

async fn measure_all(api: &Api, count: usize) -> Result<[(&'static str, Calls); 2]> {
    let ask = |text: &str| json!({ "query": text });
    let tell = |text: &str| json!({ "content": text });
    Ok([
        ("recall", measure(api, "recall", count, ask).await?),
        ("remember", measure(api, "memories", count, tell).await?),
    ])
}

async fn measure(
    api: &Api,
    path: &str,
    count: usize,
    body: impl Fn(&str) -> Value,
) -> Result<Calls> {
    let mut plain = api.line(path).await?;
    let mut captured = api.line(path).await?.of_session("bench");
    let mut calls = Calls::default();
    for (n, text) in load::queries(count + WARM_UP).iter().enumerate() {
        // Two wordings, since what is said again is not written again.
        let bodies = ["", "again "].map(|word| body(&format!("{word}{text} {n}")).to_string());
        let first = n % 2;
        let other = 1 - first;
        // Who comes first changes, so that neither profits from the other's warm caches.
        let mut took = [0.0; 2];
        for which in [first, other] {
            let line = if which == 0 { &mut plain } else { &mut captured };
            let started = Instant::now();
            line.post(&bodies[usize::from(which != first)]).await?;
            took[which] = started.elapsed().as_secs_f64() * 1e3;
        }
        if n >= WARM_UP {
            calls.plain.push(took[0]);
            calls.captured.push(took[1]);
        }
    }
    Ok(calls)
}
