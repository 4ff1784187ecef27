//! Jobs that run by themselves: every server looks for what is due; claims let one do it.

use std::collections::HashMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::{JOBS, Job, next_run};
use crate::Mnemic;
use crate::error::{Code, Result};
use crate::ids::WorkspaceId;
use crate::principal::Scope;

/// How often a server looks.
const LOOK_PERIOD: Duration = Duration::from_secs(15);
/// How often a server looks whether a workspace has switched a job on.
const UNSCHEDULED_PERIOD: SignedDuration = SignedDuration::from_mins(5);

/// When each workspace has work again, so that the idle ones cost nothing.
#[derive(Debug, Default)]
struct Looks {
    next: HashMap<WorkspaceId, Timestamp>,
    /// When the last look was.
    last: Option<Timestamp>,
}

impl Looks {
    /// Forgets workspaces that have gone, and all times once the clock was set back.
    fn begin(&mut self, now: Timestamp, workspaces: &[WorkspaceId]) {
        if self.last.replace(now).is_some_and(|last| now < last) {
            self.next.clear();
        }
        self.next.retain(|id, _| workspaces.contains(id));
    }
}

impl Mnemic {
    /// Runs jobs when they are due, for ever.
    pub async fn run_jobs(&self) {
        let mut looks = Looks::default();
        loop {
            if let Err(e) = self.run_due(&mut looks).await {
                tracing::warn!(error = %e, "due jobs could not be looked for; trying again");
            }
            tokio::time::sleep(LOOK_PERIOD).await;
        }
    }

    /// Runs what is due now, once; says how many jobs that were.
    pub async fn run_due_jobs(&self) -> Result<usize> {
        self.run_due(&mut Looks::default()).await
    }

    async fn run_due(&self, looks: &mut Looks) -> Result<usize> {
        let mut ran = 0;
        let workspaces = self.workspace_ids().await?;
        looks.begin(self.clock.now(), &workspaces);
        for id in workspaces {
            if looks.next.get(&id).is_some_and(|at| self.clock.now() < *at) {
                continue;
            }
            let (count, at) = self.run_due_in(Scope::of_job(id)).await?;
            ran += count;
            looks.next.insert(id, at);
        }
        Ok(ran)
    }

    /// Returns how many jobs were run, and when there is work again.
    async fn run_due_in(&self, scope: Scope) -> Result<(usize, Timestamp)> {
        let records = self.store.list_jobs(scope).await?;
        // A workspace that was deleted a moment ago has no work.
        let Some(workspace) = self.store.lookup_workspace(scope.workspace()).await? else {
            return Ok((0, Timestamp::MAX));
        };
        let (mut ran, mut again) = (0, Timestamp::MAX);
        for job in JOBS {
            let record = records.iter().find(|record| record.name == job.name());
            let now = self.clock.now();
            // Once it ends, its epoch is the last one: to take that for leave would run it twice.
            if let Some((_, until)) = record.and_then(|record| record.claimed)
                && now < until
            {
                again = again.min(until);
                continue;
            }
            let Some(due) = next_run(*job, record, now) else { continue };
            if !job.is_scheduled(&workspace.settings) {
                // It may be switched on at any time.
                again = again.min(now + UNSCHEDULED_PERIOD);
                continue;
            }
            if due > now {
                again = again.min(due);
                continue;
            }
            // Whatever comes of it, here or on another server, is looked at in the next round.
            again = again.min(now);
            let epoch = record.map_or(0, |record| record.epoch);
            ran += usize::from(self.run_if_unclaimed(*job, scope, epoch).await?);
        }
        Ok((ran, again))
    }

    /// A failure is written down with the job and does not keep the others from running.
    async fn run_if_unclaimed(&self, job: &dyn Job, scope: Scope, epoch: i64) -> Result<bool> {
        let claimed = match self.claim(scope, job.name(), Some(epoch)).await {
            // The workspace was deleted a moment ago.
            Err(e) if e.code() == Code::Conflict => return Ok(false),
            claimed => claimed?,
        };
        let Some(claim) = claimed else { return Ok(false) };
        match self.run_claimed(job, claim).await {
            Ok(changed) => {
                let workspace = scope.workspace();
                tracing::debug!(job = job.name(), %workspace, changed, "a job is done");
            }
            Err(e) => tracing::warn!(job = job.name(), error = %e, "a job failed"),
        }
        Ok(true)
    }
}
