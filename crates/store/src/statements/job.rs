//! Claims of jobs and how their runs went.

use jiff::Timestamp;
use mnemic_core::job::{JobRecord, LastRun};
use mnemic_core::{Code, Result};

use crate::{Expect, Fields, Row, Statement, Step, values};

pub(crate) static LIST: Statement = Statement::workspace(
    "job.list",
    "SELECT name, epoch, claimed_at, lease_until, started_at, finished_at, changed, error, failures
     FROM jobs WHERE workspace_id = $1 ORDER BY name",
);

/// One that somebody holds, or that was claimed since the caller looked, returns no row.
pub(crate) static CLAIM: Statement = Statement::workspace(
    "job.claim",
    "INSERT INTO jobs (workspace_id, name, epoch, claimed_at, lease_until, changed, failures)
     VALUES ($1, $2, 1, $3, $4, 0, 0)
     ON CONFLICT (workspace_id, name) DO UPDATE SET
         epoch = jobs.epoch + 1,
         claimed_at = excluded.claimed_at,
         lease_until = excluded.lease_until
     WHERE (jobs.lease_until IS NULL OR jobs.lease_until <= excluded.claimed_at)
       AND (jobs.epoch = $5 OR $5 IS NULL)
     RETURNING epoch",
);

static HOLD: Statement = Statement::workspace(
    "job.hold",
    "UPDATE jobs SET lease_until = $4
     WHERE workspace_id = $1 AND name = $2 AND epoch = $3 AND lease_until IS NOT NULL",
);

static FINISH: Statement = Statement::workspace(
    "job.finish",
    "UPDATE jobs SET claimed_at = NULL, lease_until = NULL, started_at = $4, finished_at = $5,
         changed = $6, error = $7,
         failures = CASE WHEN CAST($7 AS TEXT) IS NULL THEN 0 ELSE failures + 1 END
     WHERE workspace_id = $1 AND name = $2 AND epoch = $3 AND lease_until IS NOT NULL",
);

pub(crate) static ALL: &[&Statement] = &[&LIST, &CLAIM, &HOLD, &FINISH];

pub(crate) fn hold(job: &str, epoch: i64, until: Timestamp) -> Step {
    claimed(Step::new(&HOLD, values![job, epoch, until]))
}

pub(crate) fn finish(job: &str, epoch: i64, run: &LastRun) -> Step {
    let changed = i64::try_from(run.changed).unwrap_or(i64::MAX);
    let params =
        values![job, epoch, run.started_at, run.finished_at, changed, run.error.as_deref()];
    claimed(Step::new(&FINISH, params))
}

fn claimed(step: Step) -> Step {
    let lost = "the job went to another server, so this one writes nothing more";
    step.expect(Expect::Rows(1)).otherwise(Code::ClaimLost, lost)
}

pub(crate) fn from_row(row: &Row) -> Result<JobRecord> {
    let changed = u64::try_from(row.int("changed")?).unwrap_or(0);
    let error = row.opt_string("error")?;
    let last_run = row
        .opt_time("started_at")?
        .zip(row.opt_time("finished_at")?)
        .map(|(started_at, finished_at)| LastRun { started_at, finished_at, changed, error });
    Ok(JobRecord {
        name: row.string("name")?,
        epoch: row.int("epoch")?,
        claimed: row.opt_time("claimed_at")?.zip(row.opt_time("lease_until")?),
        last_run,
        failures: row.int("failures")?,
    })
}
