//! Work that goes on behind the requests: by itself on a schedule, or by hand.
//!
//! A job works on one workspace at a time, under a [`Claim`]. Claims are numbered by an epoch:
//! whoever was paused past its lease finds its number outdated and commits nothing, so a job has
//! one effect however many servers there are and wherever one of them is killed.

mod audit_retention;
mod benchmarks;
mod claim;
mod cleanup;
mod consolidate;
mod decay;
mod patterns;
mod promote;
mod reembed;
mod rollup;
mod schedule;
mod sequences;
mod strategies;

use async_trait::async_trait;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub use claim::{Claim, LEASE_DEFAULT};
pub use decay::Fading;

use crate::Mnemic;
use crate::error::{Error, Result};
use crate::ids::{WorkspaceId, shorten};
use crate::page::Position;
use crate::principal::{Action, Operation, Principal, Scope};
use crate::store::Change;
use crate::workspace::Settings;

/// Every job, in the order of their names.
static JOBS: &[&dyn Job] = &[
    &audit_retention::AuditRetention,
    &benchmarks::Benchmarks,
    &cleanup::Cleanup,
    &consolidate::Consolidate,
    &decay::Decay,
    &patterns::Patterns,
    &promote::Promote,
    &reembed::Reembed,
    &rollup::Rollup,
    &sequences::Sequences,
    &strategies::Strategies,
];

/// A failed job is tried again after this long, doubled with each failure up to its cadence.
const RETRY_FIRST: SignedDuration = SignedDuration::from_mins(1);

/// Clocks of servers may differ by so much without one of them being wrong.
const SKEW_MAX: SignedDuration = SignedDuration::from_mins(1);

/// How often, and after how long, a job that somebody else runs is looked at again.
const PATIENCE_TRIES: usize = 20;
const PATIENCE_PAUSE: std::time::Duration = std::time::Duration::from_millis(100);

/// One kind of background work.
#[async_trait]
pub trait Job: Send + Sync {
    fn name(&self) -> &'static str;

    /// How often it runs by itself; `None` means only when it is called for.
    fn cadence(&self) -> Option<SignedDuration>;

    /// Whether it runs at the beginning of each day (UTC), rather than a day after the last run.
    fn is_nightly(&self) -> bool {
        false
    }

    /// Whether a workspace with these settings wants it to run by itself.
    fn is_scheduled(&self, _: &Settings) -> bool {
        true
    }

    /// How many records it would change now. Changes nothing.
    async fn preview(&self, mnemic: &Mnemic, scope: Scope) -> Result<u64>;

    /// Does the work. What it commits on its way it commits through the claim, and each such
    /// step must be harmless if it is done again; what may happen only once belongs into the
    /// changes it returns, which are committed together with the end of the run.
    async fn run(&self, mnemic: &Mnemic, claim: &Claim) -> Result<Done>;
}

/// What a run came to.
#[derive(Debug, Default)]
pub struct Done {
    /// How many records it changed, with those of `changes`.
    pub changed: u64,
    pub changes: Vec<Change>,
}

impl Done {
    pub fn changed(changed: u64) -> Self {
        Self { changed, changes: Vec::new() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobReport {
    pub name: String,
    /// Nothing was changed; `changed` is what would have been.
    pub dry_run: bool,
    /// How many records it changed.
    pub changed: u64,
}

/// What the store remembers of a job in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRecord {
    pub name: String,
    /// The number of the last claim.
    pub epoch: i64,
    /// Since when it runs and until when it may, where it was claimed and not finished.
    pub claimed: Option<(Timestamp, Timestamp)>,
    pub last_run: Option<LastRun>,
    /// How often it has failed in a row.
    pub failures: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastRun {
    pub started_at: Timestamp,
    pub finished_at: Timestamp,
    pub changed: u64,
    /// Why it failed, if it did.
    pub error: Option<String>,
}

/// A job as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobState {
    pub name: String,
    pub cadence_seconds: Option<u64>,
    pub running_since: Option<Timestamp>,
    pub last_run: Option<LastRun>,
    pub next_run_at: Option<Timestamp>,
    /// How far it is behind its schedule.
    pub lag_seconds: u64,
}

static LIST_JOBS: Operation = Operation::new("job.list", Action::ReadMemories);
static RUN: Operation = Operation::new("job.run", Action::RunJobs);

impl Mnemic {
    /// The jobs, and how they stand in the caller's workspace.
    pub async fn list_jobs(&self, principal: &Principal) -> Result<Vec<JobState>> {
        self.authorize(principal, &LIST_JOBS)?;
        let records = self.store.list_jobs(principal.scope()).await?;
        let settings = settings(self, principal.scope()).await?;
        let now = self.clock.now();
        let state = |job: &&dyn Job| {
            let record = records.iter().find(|record| record.name == job.name());
            let mut state = show(*job, record, now);
            if !job.is_scheduled(&settings) {
                (state.next_run_at, state.lag_seconds) = (None, 0);
            }
            state
        };
        Ok(JOBS.iter().map(state).collect())
    }

    /// Runs a job for the caller's workspace, or says what it would change.
    pub async fn run_job(
        &self,
        principal: &Principal,
        name: &str,
        dry_run: bool,
    ) -> Result<JobReport> {
        let job = JOBS.iter().find(|job| job.name() == name).ok_or_else(|| {
            let names: Vec<_> = JOBS.iter().map(|job| job.name()).collect();
            let problem = format!("`{}` is not one of {}", shorten(name), names.join(", "));
            Error::invalid("job", problem)
        })?;
        self.perform(principal, *job, dry_run).await
    }

    /// The same for a job of one's own.
    pub async fn perform(
        &self,
        principal: &Principal,
        job: &dyn Job,
        dry_run: bool,
    ) -> Result<JobReport> {
        self.authorize(principal, &RUN)?;
        let (scope, started) = (principal.scope(), self.clock.now());
        let changed = if dry_run {
            job.preview(self, scope).await?
        } else {
            let claim = self.claim_soon(scope, job.name()).await?;
            self.run_claimed(job, claim).await?
        };
        if !dry_run {
            self.note_done(principal, &RUN, &[], started);
        }
        Ok(JobReport { name: job.name().to_owned(), dry_run, changed })
    }

    /// Most runs take a moment, so one that is under way is waited for a little.
    async fn claim_soon(&self, scope: Scope, name: &'static str) -> Result<Claim> {
        for _ in 0..PATIENCE_TRIES {
            if let Some(claim) = self.claim(scope, name, None).await? {
                return Ok(claim);
            }
            tokio::time::sleep(PATIENCE_PAUSE).await;
        }
        let detail = format!("the job {name} is being run already; try again when it is done");
        Err(Error::conflict(detail))
    }

    pub(crate) async fn workspace_ids(&self) -> Result<Vec<WorkspaceId>> {
        const PAGE: usize = 200;
        let mut ids: Vec<WorkspaceId> = Vec::new();
        loop {
            let after = ids.last().map(|id| Position::After(id.0));
            let page = self.store.list_workspaces(after, PAGE).await?;
            let last = page.len() < PAGE;
            ids.extend(page.iter().map(|workspace| workspace.id));
            if last {
                return Ok(ids);
            }
        }
    }

    /// How many memories each workspace holds, for the metrics.
    pub async fn sizes(&self) -> Result<Vec<(WorkspaceId, u64)>> {
        let mut sizes = Vec::new();
        for id in self.workspace_ids().await? {
            sizes.push((id, self.store.count_memories(Scope::of_job(id)).await?));
        }
        Ok(sizes)
    }
}

/// The settings of a workspace that is there.
async fn settings(mnemic: &Mnemic, scope: Scope) -> Result<Settings> {
    let workspace = mnemic.store.lookup_workspace(scope.workspace()).await?;
    Ok(workspace.ok_or_else(|| Error::not_found("workspace"))?.settings)
}

fn show(job: &dyn Job, record: Option<&JobRecord>, now: Timestamp) -> JobState {
    let next_run_at = next_run(job, record, now);
    let running = record.and_then(|record| record.claimed).filter(|(_, until)| now < *until);
    let lag = next_run_at
        .filter(|_| running.is_none())
        .map_or(SignedDuration::ZERO, |next| now.duration_since(next).max(SignedDuration::ZERO));
    JobState {
        name: job.name().to_owned(),
        cadence_seconds: job.cadence().and_then(|every| u64::try_from(every.as_secs()).ok()),
        running_since: running.map(|(since, _)| since),
        last_run: record.and_then(|record| record.last_run.clone()),
        next_run_at,
        lag_seconds: u64::try_from(lag.as_secs()).unwrap_or(0),
    }
}

/// When it is to run by itself; one that never ran is due at once.
fn next_run(job: &dyn Job, record: Option<&JobRecord>, now: Timestamp) -> Option<Timestamp> {
    let cadence = job.cadence()?;
    let Some(record) = record else { return Some(now) };
    let Some(last) = &record.last_run else { return Some(now) };
    // The clock was set back since: to wait for it to come so far again could take for ever.
    if last.finished_at.duration_since(now) > SKEW_MAX {
        return Some(now);
    }
    let pause = match u32::try_from(record.failures - 1) {
        Ok(doublings) => {
            let factor = 2_i32.saturating_pow(doublings.min(16));
            RETRY_FIRST.saturating_mul(factor).min(cadence)
        }
        Err(_) if job.is_nightly() => return tomorrow(last.finished_at),
        Err(_) => cadence,
    };
    last.finished_at.checked_add(pause).ok()
}

/// The beginning of the next day, so that no day is passed over by runs that take their time.
fn tomorrow(time: Timestamp) -> Option<Timestamp> {
    let next = time.to_zoned(TimeZone::UTC).date().tomorrow().ok()?;
    next.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests;
