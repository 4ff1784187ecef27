//! Statements and the scope they run in.
//!
//! A statement is a constant: plain SQL with `$1…$n` in the subset that SQLite and PostgreSQL
//! both speak. No SQL text is built or rewritten at run time. The workspace is never a parameter
//! that a caller passes: it comes from the [`Scope`], so that forgetting it is impossible.

use mnemic_core::{Error, Result};
use uuid::Uuid;

use crate::Value;

/// On whose behalf an operation runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Administration of workspaces and tokens, and work across workspaces. Never a request's.
    System,
    /// One workspace, taken from an authenticated principal.
    Workspace(Uuid),
}

/// Which kind of scope a statement demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StatementScope {
    System,
    /// `$1` is the workspace and every table the statement names is tied to it.
    Workspace,
}

/// One SQL statement with a name for errors and metrics.
#[derive(Debug, PartialEq, Eq)]
pub struct Statement {
    pub name: &'static str,
    pub sql: &'static str,
    pub scope: StatementScope,
    /// Adds one row under a key of its own, and fails where the key is taken: its step then counts
    /// none.
    pub adds: bool,
    /// Gives one row where what it asks for holds, and fails elsewhere where the database knows how to:
    /// its step then counts none.
    pub requires: bool,
    /// Changes tokens or workspaces: who may come in, and what holds for them.
    pub governs: bool,
}

impl Statement {
    /// A statement whose callers pass every parameter, from `$1` on.
    pub const fn system(name: &'static str, sql: &'static str) -> Self {
        Self::new(name, sql, StatementScope::System)
    }

    /// A statement whose `$1` is the workspace; callers pass the parameters from `$2` on.
    pub const fn workspace(name: &'static str, sql: &'static str) -> Self {
        Self::new(name, sql, StatementScope::Workspace)
    }

    const fn new(name: &'static str, sql: &'static str, scope: StatementScope) -> Self {
        let governs = changes(sql, "tokens") || changes(sql, "workspaces");
        Self { name, sql, scope, adds: false, requires: false, governs }
    }

    /// The same, for an `INSERT` of one row that says nothing of conflicts. A batch of such needs no
    /// judgement between its last step and its commit.
    #[must_use]
    pub const fn adds(self) -> Self {
        Self { adds: true, ..self }
    }

    /// The same, for a `SELECT count(*) … HAVING 1 / count(*) = 1`. PostgreSQL does not divide by zero,
    /// which ends the batch without a judgement between its last step and its commit; SQLite, which
    /// does, returns no row.
    #[must_use]
    pub const fn requires(self) -> Self {
        Self { requires: true, ..self }
    }

    /// The full parameter list, with the workspace in front where the statement takes one.
    ///
    /// Every engine calls this before it touches its database, so a statement in the wrong scope
    /// is refused everywhere in the same way, and so are values that one engine could keep and
    /// the other could not.
    pub(crate) fn arguments(&self, scope: Scope, mut params: Vec<Value>) -> Result<Vec<Value>> {
        match (self.scope, scope) {
            (StatementScope::System, Scope::System) => {}
            (StatementScope::Workspace, Scope::Workspace(workspace)) => {
                params.insert(0, Value::Uuid(workspace));
            }
            (wanted, given) => {
                return Err(Error::internal(format!(
                    "statement {}: made for the {wanted:?} scope but run in {given:?}",
                    self.name
                )));
            }
        }
        for (index, value) in params.iter().enumerate() {
            value.check_portable(self.name, index + 1)?;
        }
        Ok(params)
    }
}

/// Whether a statement changes rows of a table. Read from its text, so that nobody need remember to
/// say so.
const fn changes(sql: &str, table: &str) -> bool {
    has_pair(sql, "INTO", table)
        || has_pair(sql, "UPDATE", table)
        || (has(sql, "DELETE") && has_pair(sql, "FROM", table))
}

const fn has_pair(sql: &str, first: &str, second: &str) -> bool {
    let mut at = 0;
    while at + first.len() + 1 + second.len() <= sql.len() {
        if is_at(sql, at, first) && is_at(sql, at + first.len() + 1, second) {
            return true;
        }
        at += 1;
    }
    false
}

const fn has(sql: &str, word: &str) -> bool {
    let mut at = 0;
    while at + word.len() <= sql.len() {
        if is_at(sql, at, word) {
            return true;
        }
        at += 1;
    }
    false
}

const fn is_at(sql: &str, at: usize, word: &str) -> bool {
    let (sql, word) = (sql.as_bytes(), word.as_bytes());
    let mut i = 0;
    while i < word.len() {
        if at + i >= sql.len() || sql[at + i] != word[i] {
            return false;
        }
        i += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use mnemic_core::Code;

    use super::*;

    const SYSTEM: Statement = Statement::system("s", "SELECT $1");
    const WORKSPACE: Statement = Statement::workspace("w", "SELECT $1, $2");

    #[test]
    fn a_statement_in_the_wrong_scope_is_refused() {
        let refused = WORKSPACE.arguments(Scope::System, vec![]).unwrap_err();
        assert_eq!(refused.code(), Code::Internal);
        let refused = SYSTEM.arguments(Scope::Workspace(Uuid::nil()), vec![]).unwrap_err();
        assert_eq!(refused.code(), Code::Internal);
    }

    #[test]
    fn what_governs_is_read_from_the_text() {
        for (sql, governs) in [
            ("UPDATE tokens SET revoked_at = $1", true),
            ("DELETE FROM tokens WHERE workspace_id = $1", true),
            ("INSERT INTO workspaces\n    (id) VALUES ($1)", true),
            ("UPDATE workspaces SET settings = $2", true),
            ("SELECT id FROM tokens", false),
            ("DELETE FROM answers WHERE workspace_id = $1", false),
            ("UPDATE", false),
        ] {
            assert_eq!(Statement::system("it", sql).governs, governs, "{sql}");
        }
    }

    #[test]
    fn the_scope_supplies_the_first_parameter() {
        let workspace = Uuid::from_u128(7);
        let arguments =
            WORKSPACE.arguments(Scope::Workspace(workspace), vec![Value::Int(1)]).unwrap();
        assert_eq!(arguments, vec![Value::Uuid(workspace), Value::Int(1)]);
        assert_eq!(SYSTEM.arguments(Scope::System, vec![]).unwrap(), vec![]);
    }

    #[test]
    fn values_that_only_one_engine_keeps_are_refused() {
        for value in [
            Value::Text("a\0b".into()),
            Value::Json(serde_json::json!({"a": ["\0"]})),
            Value::Json(serde_json::json!({"\0": 1})),
        ] {
            let refused = SYSTEM.arguments(Scope::System, vec![value]).unwrap_err();
            assert_eq!(refused.code(), Code::InvalidField);
        }
        let refused = SYSTEM.arguments(Scope::System, vec![Value::Float(f64::NAN)]).unwrap_err();
        assert_eq!(refused.code(), Code::Internal);
    }
}
