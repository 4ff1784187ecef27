//! From the start of a process to its first answer.
//!
//! The clock runs from before the process exists to a complete answer, by words and vectors,
//! over HTTP. The database is read once beforehand: how fast a disk is, is not our doing.

use std::fs::File;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

use super::report::{Report, Target, median};
use super::stage::{Api, Stage};
use super::{StartArgs, load};
use crate::config::{CommonArgs, Provider};

const PATIENCE: Duration = Duration::from_mins(5);
const PAUSE: Duration = Duration::from_millis(20);
const LISTENING: &str = "Mnemic listens on ";
const LOADED: &str = "embedding model loaded";
const BUILT: &str = "index built";
/// Seconds for 100,000 memories and for 1,000,000; between the two, the promise is a line.
const SECONDS_SMALL: (f64, f64) = (100_000.0, 2.0);
const SECONDS_LARGE: (f64, f64) = (1_000_000.0, 12.0);

/// When each step was reached, in seconds from the start.
#[derive(Debug, Clone, Copy, Default)]
struct Steps {
    listening: f64,
    first: f64,
    complete: f64,
    model: f64,
    index: f64,
    processor: f64,
}

pub async fn run(common: &CommonArgs, args: &StartArgs) -> Result<Report> {
    let mut stage = Stage::new(common, args.store.dir.as_deref())?;
    stage.config.embedding.provider = Provider::Local;
    load::fill(&stage, stage.model().await?.stamp(), args.store.items).await?;
    std::io::copy(&mut File::open(stage.dir.database())?, &mut std::io::sink())?;
    let mut runs = Vec::new();
    for _ in 0..args.runs.max(1) {
        runs.push(tokio::time::timeout(PATIENCE, start(&stage)).await.context("no answer")??);
    }
    let of = |step: fn(&Steps) -> f64| median(&runs.iter().map(step).collect::<Vec<_>>());
    let subject = format!("{} memories, {} runs", args.store.items, runs.len());
    let mut report = Report::new("start", subject);
    report.add("listening, s", of(|run| run.listening));
    report.add("model loaded, s", of(|run| run.model));
    report.add("index built, s", of(|run| run.index));
    report.add("first answer, s", of(|run| run.first));
    let target = Target::AtMost(seconds_promised(args.store.items));
    report.promise("first complete answer, s", of(|run| run.complete), target);
    report.add("processor time until then, s", of(|run| run.processor));
    Ok(report)
}

fn seconds_promised(items: usize) -> f64 {
    let share = (items as f64 - SECONDS_SMALL.0) / (SECONDS_LARGE.0 - SECONDS_SMALL.0);
    (SECONDS_SMALL.1 + share * (SECONDS_LARGE.1 - SECONDS_SMALL.1)).max(SECONDS_SMALL.1)
}

async fn start(stage: &Stage) -> Result<Steps> {
    let started = Instant::now();
    let mut child = Command::new(std::env::current_exe()?)
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(stage.dir.path())
        .env("MNEMIC_LOG", "info")
        .env("MNEMIC_EMBEDDING_PROVIDER", "local")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let steps = follow(&mut child, stage, started).await;
    child.kill().await?;
    steps
}

async fn follow(child: &mut Child, stage: &Stage, started: Instant) -> Result<Steps> {
    let seconds = move || started.elapsed().as_secs_f64();
    let mut steps = Steps::default();
    let mut said = BufReader::new(child.stdout.take().context("no output")?).lines();
    let mut logged = BufReader::new(child.stderr.take().context("no log")?).lines();
    let (sender, mut log) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok(Some(line)) = logged.next_line().await {
            let _ = sender.send((seconds(), line));
        }
    });
    let url = loop {
        let Some(line) = said.next_line().await? else { bail!("the server did not start") };
        if let Some(url) = line.strip_prefix(LISTENING) {
            break url.to_owned();
        }
    };
    steps.listening = seconds();
    let api = Api::new(&url, &stage.dir)?;
    let question = json!({ "query": load::queries(1).concat() });
    loop {
        let answer = api.post("recall", &question).await?;
        if steps.first == 0.0 {
            steps.first = seconds();
        }
        if answer["degraded"].as_array().is_some_and(Vec::is_empty) {
            break;
        }
        tokio::time::sleep(PAUSE).await;
    }
    steps.complete = seconds();
    steps.processor = processor_seconds(child.id());
    while let Ok((at, line)) = log.try_recv() {
        if line.contains(LOADED) {
            steps.model = at;
        } else if line.contains(BUILT) {
            steps.index = at;
        }
    }
    Ok(steps)
}

/// What a process has used of all processors, in user and system mode.
fn processor_seconds(process: Option<u32>) -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let Some(process) = process else { return f64::NAN };
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The second field is a name in brackets and may hold spaces: count from its end.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).flat_map(str::parse::<f64>).sum::<f64>() / TICKS_PER_SECOND
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_promise_grows_with_the_store() {
        for (items, seconds) in [(1, 2.0), (100_000, 2.0), (550_000, 7.0), (1_000_000, 12.0)] {
            assert!((seconds_promised(items) - seconds).abs() < 1e-9, "{items}");
        }
    }
}
