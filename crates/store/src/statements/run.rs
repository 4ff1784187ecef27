//! Runs and their citations.

use mnemic_core::ids::MemoryId;
use mnemic_core::run::Run;

use super::exactly_one;
use crate::{Statement, Step, values};

static FINISH: Statement = Statement::workspace(
    "run.finish",
    "INSERT INTO runs (workspace_id, run_id, outcome, finished_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (workspace_id, run_id)
     DO UPDATE SET outcome = coalesce(excluded.outcome, runs.outcome)",
);

pub(crate) static CITATIONS: Statement = Statement::workspace(
    "run.citations",
    "SELECT memory_id FROM citations WHERE workspace_id = $1 AND run_id = $2",
);

static CITE: Statement = Statement::workspace(
    "run.cite",
    "INSERT INTO citations (workspace_id, run_id, memory_id) VALUES ($1, $2, $3)
     ON CONFLICT (workspace_id, run_id, memory_id) DO NOTHING",
);

static ERASE_CITATIONS: Statement = Statement::workspace(
    "run.erase_citations",
    "DELETE FROM citations WHERE workspace_id = $1 AND memory_id = $2",
);

pub(crate) static ALL: &[&Statement] = &[&FINISH, &CITATIONS, &CITE, &ERASE_CITATIONS];

pub(crate) fn finish(run: &Run) -> Step {
    Step::new(&FINISH, values![&run.run_id, run.outcome.as_deref(), run.finished_at])
}

/// A citation that is there already means that the decision to count it was out of date.
pub(crate) fn cite(run_id: &str, memory: MemoryId) -> Step {
    exactly_one(&CITE, values![run_id, memory.0])
}

pub(crate) fn erase_citations(memory: MemoryId) -> Step {
    Step::new(&ERASE_CITATIONS, values![memory.0])
}
