//! Proof that statements stay inside their workspace.
//!
//! SQLite has no row-level security, so that a statement which forgets the workspace would read
//! everybody's. This reads the SQL of a statement and demands that every table it names is tied
//! to `$1`. It is meant for tests over all statements. It understands the SQL that we write, not
//! all SQL: what it cannot follow is a fault, never a pass.

mod query;
mod tables;
#[cfg(test)]
mod tests;
mod tokens;

use crate::{Statement, StatementScope};

/// Everything that is wrong with a statement; nothing for a good one.
///
/// For every table in a `FROM`, `JOIN`, `UPDATE` or `DELETE`, a condition that always holds (not
/// one beside an `OR`) must say `workspace_id = $1`, or equal the `workspace_id` of a table for
/// which that is so. An `INSERT` must put `$1` into `workspace_id`, and an upsert must name
/// `workspace_id` among its conflicting columns. The table `workspaces` is tied by its `id`. Any
/// statement must number its parameters from `$1` without gaps.
pub fn statement_faults(statement: &Statement) -> Vec<String> {
    let nodes = match tokens::parse(statement.sql) {
        Ok(nodes) => nodes,
        Err(fault) => return vec![format!("{}: {fault}", statement.name)],
    };
    let mut faults = parameter_faults(&nodes);
    if statement.scope == StatementScope::Workspace {
        faults.extend(query::scope_faults(&nodes));
    }
    faults.into_iter().map(|fault| format!("{}: {fault}", statement.name)).collect()
}

fn parameter_faults(nodes: &[tokens::Node]) -> Vec<String> {
    let mut numbers = Vec::new();
    tokens::parameters(nodes, &mut numbers);
    numbers.sort_unstable();
    numbers.dedup();
    let gap = numbers.iter().zip(1..).find(|(number, expected)| *number != expected);
    gap.map(|(_, expected)| format!("${expected} is never used")).into_iter().collect()
}
