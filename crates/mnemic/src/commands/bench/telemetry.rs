//! What telemetry costs: mining what is new against mining all there is, and the capture of one
//! action over REST against a bare insert that is as durable.
//!
//! Grouping and mining are measured without a server in front, since nobody waits for them. A
//! capture is measured from the socket, by turns with the bare insert, because how long a disk takes
//! to confirm changes by the minute; what a request takes that does nothing is measured beside them,
//! to tell what is the disk, what is the socket and what is ours. Where many report at once, commits are shared:
//! what one capture takes of the time then is measured, too. The model is switched off: it works behind both.

use std::time::Instant;

use anyhow::{Result, bail};
use jiff::{SignedDuration, Timestamp};
use mnemic_core::action::{ACTIONS_AT_ONCE_MAX, NewAction, Outcome};
use mnemic_core::principal::{Caller, Principal};
use mnemic_recall::synthetic::Noise;
use mnemic_store::yardstick::BareInserts;
use serde_json::json;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::TelemetryArgs;
use super::report::{Report, Target, median, quantile};
use super::stage::{Api, Opened, Stage};
use crate::config::{CommonArgs, Provider};
use crate::output;

/// Mining what is new costs no more than this of mining all.
const SHARE_MAX: f64 = 0.01;
/// A capture takes no longer than so many bare inserts.
const TIMES_MAX: f64 = 1.5;
const ACTIONS_PER_RUN: usize = 10;
const ACTION_TYPES: u64 = 40;
const NODE_TYPES: u64 = 5;
/// Runs are spread over so many days.
const DAYS: i64 = 80;
/// How many report at once.
const REPORTERS: usize = 16;
/// A log of SQLite grows at first and is written over from then on, which is faster. So many captures
/// fill it once; the bare table's was filled by its rows.
const WARM_UP: usize = 400;

pub async fn run(common: &CommonArgs, args: &TelemetryArgs) -> Result<Report> {
    let mut stage = Stage::new(common, args.dir.as_deref())?;
    stage.config.embedding.provider = Provider::Off;
    let engine = if args.store.is_some() { "PostgreSQL" } else { "embedded" };
    let opened = open(&stage, args).await?;
    let (who, token) = opened.new_workspace().await?;
    let measured = measure_mining(&opened, &who, args).await;
    opened.mnemic.close().await;
    drop(opened);
    let captured = match &measured {
        Ok(_) => Some(measure_captures(&stage, &who, &token, args).await),
        Err(_) => None,
    };
    // It is the bench's own, whatever else the store holds.
    let opened = open(&stage, args).await?;
    opened.store.erase_workspace(who.workspace_id).await?;
    opened.mnemic.close().await;
    let (all, more) = measured?;
    let Some(captured) = captured else { bail!("no capture was measured") };
    let captured = captured?;

    let subject = format!("{} actions and {} more, {engine}", args.actions, args.more);
    let mut report = Report::new("telemetry", subject);
    for (name, passes) in [("all", &all), ("more", &more)] {
        report.add(format!("grouping and counting {name}, s"), passes.grouping);
        report.add(format!("mining {name}, s"), passes.mining);
    }
    report.promise("both passes, more / all", more.both() / all.both(), Target::AtMost(SHARE_MAX));
    let share = more.mining / all.both();
    report.promise("mining more / both passes over all", share, Target::AtMost(SHARE_MAX));
    report.add("mining more / mining all", more.mining / all.mining);
    for (name, taken) in [
        ("bare insert", &captured.bare),
        ("bare request", &captured.request),
        ("capture over REST", &captured.over_rest),
    ] {
        report.add(format!("{name}, ms"), median(taken));
        report.add(format!("{name}, the fastest twentieth, ms"), quantile(taken, 0.05));
    }
    let (bare, capture) = (median(&captured.bare), median(&captured.over_rest));
    report.promise("capture over REST / bare insert", capture / bare, Target::AtMost(TIMES_MAX));
    let both = bare + median(&captured.request);
    report.add("capture over REST / bare insert and bare request", capture / both);
    report.add(format!("{REPORTERS} at once: ms for each capture"), captured.together);
    let share = captured.together / bare;
    report.promise(
        format!("{REPORTERS} at once: each capture / bare insert"),
        share,
        Target::AtMost(TIMES_MAX),
    );
    Ok(report)
}

async fn open(stage: &Stage, args: &TelemetryArgs) -> Result<Opened> {
    match &args.store {
        Some(url) => stage.open_database(url).await,
        None => stage.open().await,
    }
}

/// How long both passes took, in seconds.
struct Passes {
    grouping: f64,
    mining: f64,
}

impl Passes {
    fn both(&self) -> f64 {
        self.grouping + self.mining
    }
}

async fn measure_mining(
    opened: &Opened,
    who: &Principal,
    args: &TelemetryArgs,
) -> Result<(Passes, Passes)> {
    output::note(&format!("Reporting {} actions", args.actions));
    let mut maker = Maker { noise: Noise(1), runs: 0 };
    let now = Timestamp::now();
    let step = SignedDuration::from_hours(24 * DAYS)
        / i32::try_from((args.actions / ACTIONS_PER_RUN).max(1))?;
    let start = now - SignedDuration::from_hours(24 * (DAYS + 1));
    report(opened, who, maker.runs(args.actions, start, step)).await?;
    output::note("Grouping and mining them");
    let all = pass(opened, who).await?;
    let recent = now - SignedDuration::from_hours(1);
    report(opened, who, maker.runs(args.more, recent, SignedDuration::ZERO)).await?;
    let more = pass(opened, who).await?;
    Ok((all, more))
}

async fn report(opened: &Opened, who: &Principal, actions: Vec<NewAction>) -> Result<()> {
    let caller = Caller::new(who.clone());
    for portion in actions.chunks(ACTIONS_AT_ONCE_MAX) {
        opened.mnemic.record_actions(&caller, portion).await?;
    }
    Ok(())
}

async fn pass(opened: &Opened, who: &Principal) -> Result<Passes> {
    let started = Instant::now();
    let grouped = opened.mnemic.run_job(who, "sequences", false).await?;
    let grouping = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let mined = opened.mnemic.run_job(who, "patterns", false).await?;
    let mining = started.elapsed().as_secs_f64();
    if grouped.changed == 0 || mined.changed == 0 {
        bail!("nothing was grouped ({}) or mined ({})", grouped.changed, mined.changed);
    }
    Ok(Passes { grouping, mining })
}

/// Makes runs up: of each action some fail, each in its own way.
struct Maker {
    noise: Noise,
    runs: usize,
}

impl Maker {
    fn runs(&mut self, actions: usize, start: Timestamp, step: SignedDuration) -> Vec<NewAction> {
        let mut made = Vec::with_capacity(actions);
        while made.len() < actions {
            let run = i32::try_from(made.len() / ACTIONS_PER_RUN).unwrap_or(i32::MAX);
            let at = start + step * run;
            let session = format!("run-{}", self.runs);
            self.runs += 1;
            let room = (actions - made.len()).min(ACTIONS_PER_RUN);
            for (_, second) in (0..room).zip(0..) {
                made.push(self.action(&session, at + SignedDuration::from_secs(second)));
            }
        }
        made
    }

    fn action(&mut self, session: &str, at: Timestamp) -> NewAction {
        let kind = self.noise.below(ACTION_TYPES);
        let failed = self.noise.below(ACTION_TYPES) < kind;
        let cause = match self.noise.below(3) {
            0 => "TimeoutError",
            1 => "ConflictError",
            _ => "NodeNotFoundError",
        };
        NewAction {
            node_type: Some(format!("node_{}", self.noise.below(NODE_TYPES))),
            outcome: if failed { Outcome::Failure } else { Outcome::Success },
            error_code: failed.then(|| cause.to_owned()),
            latency_ms: Some(12),
            at: Some(at),
            ..NewAction::new(session, format!("action_{kind}"))
        }
    }
}

/// How long each took, in milliseconds.
#[derive(Default)]
struct Captures {
    bare: Vec<f64>,
    /// A request that neither the store nor the gate sees.
    request: Vec<f64>,
    over_rest: Vec<f64>,
    /// What each took of the time while many reported at once.
    together: f64,
}

async fn measure_captures(
    stage: &Stage,
    who: &Principal,
    token: &str,
    args: &TelemetryArgs,
) -> Result<Captures> {
    output::note("Capturing one at a time");
    let bare = if let Some(url) = &args.store {
        BareInserts::database(url, who.workspace_id.0).await?
    } else {
        let path = stage.dir.path().join("bare.db");
        tokio::task::block_in_place(|| BareInserts::embedded(&path, args.actions))?
    };
    let served = stage.serve_for(token, args.store.as_deref()).await?;
    let measured = async {
        let mut line = served.api.line("actions").await?.still()?;
        let mut captures = Captures::default();
        for round in 0..WARM_UP + args.rounds.max(1) {
            let body = action("captured", round);
            let over_rest = timed(|| line.post(&body))?;
            let started = Instant::now();
            bare.insert(Uuid::now_v7()).await?;
            let inserted = started.elapsed().as_secs_f64() * 1e3;
            if round >= WARM_UP {
                captures.over_rest.push(over_rest);
                captures.bare.push(inserted);
            }
        }
        for _ in 0..args.rounds.max(1) {
            captures.request.push(timed(|| line.get("/livez"))?);
            // The server has had as long a rest before each of them as before a capture.
            bare.insert(Uuid::now_v7()).await?;
        }
        captures.together = report_together(&served.api, args.rounds.max(1)).await?;
        anyhow::Ok(captures)
    };
    let measured = measured.await;
    served.instance.stop().await;
    measured
}

/// Reports one action after the other by many callers, and tells how many milliseconds each took of the whole.
async fn report_together(api: &Api, rounds: usize) -> Result<f64> {
    let mut reporting = JoinSet::new();
    let started = Instant::now();
    for reporter in 0..REPORTERS {
        let mut line = api.line("actions").await?;
        reporting.spawn(async move {
            for round in 0..rounds {
                line.post(&action(&format!("reporter-{reporter}"), round)).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(reported) = reporting.join_next().await {
        reported??;
    }
    Ok(started.elapsed().as_secs_f64() * 1e3 / (REPORTERS * rounds) as f64)
}

/// The body that reports an action of a session that has a few of them.
fn action(session: &str, round: usize) -> String {
    let action = json!({
        "session_id": format!("{session}-{}", round / ACTIONS_PER_RUN),
        "agent_id": "bench", "action_type": "bare_insert", "node_type": "thing",
        "outcome": "success",
    });
    action.to_string()
}

/// How long something that blocks takes, in milliseconds.
fn timed<T>(task: impl FnOnce() -> Result<T>) -> Result<f64> {
    let started = Instant::now();
    tokio::task::block_in_place(task)?;
    Ok(started.elapsed().as_secs_f64() * 1e3)
}
