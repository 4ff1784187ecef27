//! Durable creates: many callers against one.
//!
//! One caller pays for the disk's confirmation alone; many share it. Rounds of both alternate,
//! because how long a disk takes to confirm changes by the minute. The model is switched off:
//! it works behind the writes, and here the writes are in question.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use mnemic_core::Mnemic;
use mnemic_core::memory::NewMemory;
use mnemic_core::principal::Caller;
use mnemic_recall::synthetic::{Noise, Texts};
use serde_json::json;
use tokio::task::JoinSet;

use super::WritesArgs;
use super::line::Line;
use super::report::{Report, Target, median};
use super::stage::{Api, Stage};
use crate::config::{CommonArgs, Provider};

const SPEEDUP: f64 = 5.0;

pub async fn run(common: &CommonArgs, args: &WritesArgs) -> Result<Report> {
    let mut stage = Stage::new(common, args.dir.as_deref())?;
    stage.config.embedding.provider = Provider::Off;
    let texts = Arc::new(Texts::default());
    let mut report = Report::new("writes", format!("{} callers against 1", args.callers));

    let opened = stage.open().await?;
    let caller = Caller::new(opened.principal.clone());
    let door = Door::Facade { mnemic: opened.mnemic.clone(), caller };
    let measured = rounds(args, &texts, &door).await;
    drop(door);
    opened.mnemic.close().await;
    drop(opened);
    measured?.tell("in process", &mut report);

    let served = stage.serve().await?;
    let measured = rounds(args, &texts, &Door::Http(served.api.clone())).await;
    served.instance.stop().await;
    measured?.tell("over HTTP", &mut report);
    Ok(report)
}

/// The way in.
#[derive(Clone)]
enum Door {
    Facade { mnemic: Arc<Mnemic>, caller: Caller },
    Http(Api),
}

impl Door {
    async fn enter(&self) -> Result<Writer> {
        Ok(match self {
            Self::Facade { mnemic, caller } => {
                Writer::Facade { mnemic: mnemic.clone(), caller: Box::new(caller.clone()) }
            }
            Self::Http(api) => Writer::Http(Box::new(api.line("memories").await?)),
        })
    }
}

/// One caller, inside.
enum Writer {
    Facade { mnemic: Arc<Mnemic>, caller: Box<Caller> },
    Http(Box<Line>),
}

impl Writer {
    async fn create(&mut self, content: String) -> Result<()> {
        match self {
            Self::Facade { mnemic, caller } => {
                let new = NewMemory { content, ..NewMemory::default() };
                mnemic.create_memory(caller, new).await?;
                Ok(())
            }
            Self::Http(line) => {
                line.post(&json!({ "content": content }).to_string()).await.map(drop)
            }
        }
    }
}

/// Creates per second, by round.
#[derive(Default)]
struct Rates {
    one: Vec<f64>,
    many: Vec<f64>,
}

impl Rates {
    fn tell(&self, way: &str, report: &mut Report) {
        report.add(format!("{way}, one caller, creates/s"), median(&self.one));
        report.add(format!("{way}, many callers, creates/s"), median(&self.many));
        let ratios: Vec<_> =
            self.one.iter().zip(&self.many).map(|(one, many)| many / one).collect();
        report.promise(format!("{way}, many / one"), median(&ratios), Target::AtLeast(SPEEDUP));
    }
}

async fn rounds(args: &WritesArgs, texts: &Arc<Texts>, door: &Door) -> Result<Rates> {
    let span = Duration::try_from_secs_f64(args.seconds).context("--seconds")?;
    let mut rates = Rates::default();
    // The first rounds only warm up.
    round(1, span / 4, texts, door).await?;
    round(args.callers, span / 4, texts, door).await?;
    for _ in 0..args.rounds.max(1) {
        rates.one.push(round(1, span, texts, door).await?);
        rates.many.push(round(args.callers, span, texts, door).await?);
    }
    Ok(rates)
}

/// Each caller writes one memory after the other until the time is up.
async fn round(callers: usize, span: Duration, texts: &Arc<Texts>, door: &Door) -> Result<f64> {
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for n in 0..callers {
        let (texts, door) = (texts.clone(), door.clone());
        let mut noise = Noise(n as u64);
        tasks.spawn(async move {
            let mut writer = door.enter().await?;
            let mut made = 0_u32;
            while started.elapsed() < span {
                writer.create(texts.text(25, &mut noise)).await?;
                made += 1;
            }
            anyhow::Ok(made)
        });
    }
    let mut made = 0;
    while let Some(done) = tasks.join_next().await {
        made += done??;
    }
    Ok(f64::from(made) / started.elapsed().as_secs_f64())
}
