//! The right to do a job in a workspace: held for a while, renewed while the work goes on, lost
//! for good once somebody else has it.

use std::time::Duration;

use jiff::Timestamp;

use super::{Done, Job, LastRun};
use crate::Mnemic;
use crate::error::{Code, Error, Result};
use crate::principal::Scope;
use crate::store::Change;

/// How long a claim lasts unless it is renewed.
pub const LEASE_DEFAULT: Duration = Duration::from_mins(1);

/// A job in a workspace, claimed.
#[derive(Debug, Clone)]
pub struct Claim {
    scope: Scope,
    job: &'static str,
    epoch: i64,
    since: Timestamp,
}

impl Claim {
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Commits a step of the work, if the claim still holds.
    pub async fn commit(&self, mnemic: &Mnemic, mut changes: Vec<Change>) -> Result<()> {
        changes.insert(0, self.held(mnemic));
        let filled: Vec<_> = changes.iter().filter_map(Change::needs_vector).collect();
        mnemic.store.commit(self.scope, changes).await?;
        mnemic.fill.enqueue(self.scope, filled);
        Ok(())
    }

    /// A change that is refused once somebody else has the claim, and prolongs it otherwise.
    fn held(&self, mnemic: &Mnemic) -> Change {
        Change::HoldClaim { job: self.job, epoch: self.epoch, until: mnemic.lease_end() }
    }
}

impl Mnemic {
    /// Claims a job, unless somebody has it. Where the last epoch is named, it must still be
    /// the last: nobody ran it since the caller looked.
    pub(super) async fn claim(
        &self,
        scope: Scope,
        job: &'static str,
        last: Option<i64>,
    ) -> Result<Option<Claim>> {
        let since = self.clock.now();
        let epoch = self.store.claim_job(scope, job, last, since, self.lease_end()).await?;
        Ok(epoch.map(|epoch| Claim { scope, job, epoch, since }))
    }

    /// Runs a claimed job to its end and writes down how it went. Returns how many records it
    /// changed.
    pub(super) async fn run_claimed(&self, job: &dyn Job, claim: Claim) -> Result<u64> {
        let outcome = tokio::select! {
            outcome = job.run(self, &claim) => outcome,
            lost = self.renew(&claim) => Err(lost),
        };
        let finished = match outcome {
            Ok(done) => self.finish(&claim, done).await,
            Err(e) => Err(e),
        };
        if let Err(e) = &finished {
            metrics::counter!("mnemic_jobs_total", "job" => job.name(), "outcome" => "failed")
                .increment(1);
            if e.code() != Code::ClaimLost {
                self.finish_failed(&claim, e).await;
            }
        } else {
            metrics::counter!("mnemic_jobs_total", "job" => job.name(), "outcome" => "done")
                .increment(1);
        }
        finished
    }

    /// Keeps a claim alive; returns only when it is lost. What cannot be renewed for the moment
    /// is settled by the next commit.
    async fn renew(&self, claim: &Claim) -> Error {
        loop {
            tokio::time::sleep(self.lease / 3).await;
            match claim.commit(self, vec![]).await {
                Err(e) if e.code() == Code::ClaimLost => return e,
                Err(e) => tracing::warn!(job = claim.job, error = %e, "a claim was not renewed"),
                Ok(()) => {}
            }
        }
    }

    async fn finish(&self, claim: &Claim, done: Done) -> Result<u64> {
        let Done { changed, changes } = done;
        let run = self.run_of(claim, changed, None);
        let mut batch = vec![claim.held(self)];
        batch.extend(changes);
        batch.push(Change::FinishJob { job: claim.job, epoch: claim.epoch, run });
        let filled: Vec<_> = batch.iter().filter_map(Change::needs_vector).collect();
        self.store.commit(claim.scope, batch).await?;
        self.fill.enqueue(claim.scope, filled);
        Ok(changed)
    }

    async fn finish_failed(&self, claim: &Claim, error: &Error) {
        tracing::warn!(
            job = claim.job, workspace = %claim.scope.workspace(), error = %error, "a job failed"
        );
        let run = self.run_of(claim, 0, Some(error.to_string()));
        let change = Change::FinishJob { job: claim.job, epoch: claim.epoch, run };
        if let Err(e) = self.store.commit(claim.scope, vec![change]).await {
            tracing::warn!(job = claim.job, error = %e, "the failure could not be written down");
        }
    }

    fn run_of(&self, claim: &Claim, changed: u64, error: Option<String>) -> LastRun {
        LastRun { started_at: claim.since, finished_at: self.clock.now(), changed, error }
    }

    fn lease_end(&self) -> Timestamp {
        self.clock.now().checked_add(self.lease).unwrap_or(Timestamp::MAX)
    }
}
