//! What the audit costs a request: the same requests by turns, with and without it.
//!
//! In process, where nothing but the work itself is left to hide behind, and without a model,
//! whose embedding would be most of a recall.

use std::time::Instant;

use anyhow::Result;
use mnemic_core::audit::Level;
use mnemic_core::memory::NewMemory;
use mnemic_core::principal::{Caller, Principal};
use mnemic_core::recall::{RecallRequest, Technique};
use mnemic_recall::synthetic::{Noise, Texts};

use super::AuditBenchArgs;
use super::report::{Report, Target, median};
use super::stage::{Opened, Stage};
use crate::config::{CommonArgs, Provider};

const SHARE_MAX: f64 = 1.05;
const LEVELS: [Level; 4] = [Level::Off, Level::Writes, Level::Reads, Level::Verbose];
const WARM_UP: usize = 50;
/// Memories that are there before anything is measured.
const STOCK: usize = 5_000;

pub async fn run(common: &CommonArgs, args: &AuditBenchArgs) -> Result<Report> {
    let mut stage = Stage::new(common, args.dir.as_deref())?;
    stage.config.embedding.provider = Provider::Off;
    let (engine, opened) = match &args.store {
        Some(url) => ("a database", stage.open_database(url).await?),
        None => ("the embedded store", stage.open().await?),
    };
    let subject = format!("{} requests of each kind and level, in {engine}", args.rounds);
    let mut report = Report::new("audit", subject);
    let measured = measure(&opened, args.rounds).await;
    opened.mnemic.close().await;
    let Times { creates, recalls } = measured?;
    for (kind, times) in [("create", creates), ("recall", recalls)] {
        let without = median(&times[0]);
        report.add(format!("{kind} without audit, p50, ms"), without);
        for (level, times) in LEVELS.iter().zip(&times).skip(1) {
            let name = format!("{kind} at level {level:?} / without").to_lowercase();
            let ratio = median(times) / without;
            // Whoever wants whole texts written twice pays for that.
            if *level == Level::Verbose {
                report.add(name, ratio);
            } else {
                report.promise(name, ratio, Target::AtMost(SHARE_MAX));
            }
        }
    }
    Ok(report)
}

/// Milliseconds, by level.
#[derive(Default)]
struct Times {
    creates: [Vec<f64>; LEVELS.len()],
    recalls: [Vec<f64>; LEVELS.len()],
}

async fn measure(opened: &Opened, rounds: usize) -> Result<Times> {
    let (texts, mut noise) = (Texts::default(), Noise(1));
    let mnemic = &opened.mnemic;
    let caller = |level| Caller::new(Principal { audit: level, ..opened.principal.clone() });
    let mut left = STOCK;
    while left > 0 {
        let count = left.min(1_000);
        let news = (0..count)
            .map(|_| NewMemory { content: texts.text(25, &mut noise), ..NewMemory::default() });
        mnemic.create_memories(&caller(Level::Off), news.collect()).await?;
        left -= count;
    }
    let mut times = Times::default();
    for round in 0..rounds + WARM_UP {
        for turn in 0..LEVELS.len() {
            // Who comes first changes, so that nobody profits from another's warm caches.
            let place = (round + turn) % LEVELS.len();
            let caller = caller(LEVELS[place]);
            let new = NewMemory { content: texts.text(25, &mut noise), ..NewMemory::default() };
            let started = Instant::now();
            mnemic.create_memory(&caller, new).await?;
            let create = started.elapsed().as_secs_f64() * 1e3;
            let request = RecallRequest {
                query: texts.query(4, &mut noise),
                techniques: Some(vec![Technique::Words]),
                ..RecallRequest::default()
            };
            let started = Instant::now();
            mnemic.recall(&caller.principal, &request).await?;
            let recall = started.elapsed().as_secs_f64() * 1e3;
            if round >= WARM_UP {
                times.creates[place].push(create);
                times.recalls[place].push(recall);
            }
        }
        // What reads leave to be written down is written behind them, as in a server.
        if round % 10 == 0 {
            mnemic.flush_audit().await;
        }
    }
    Ok(times)
}
