//! Workspaces. They belong to the installation, so these run in the system's scope; what
//! empties a workspace runs in the workspace's own.

use mnemic_core::ids::WorkspaceId;
use mnemic_core::workspace::Workspace;
use mnemic_core::{Error, Result};

use crate::{Fields, Row, Statement, Step, Value, values};

pub(crate) static LOOKUP: Statement = Statement::system(
    "workspace.lookup",
    "SELECT id, name, settings, grants, revision, created_at, updated_at FROM workspaces
     WHERE id = $1 AND deleted_at IS NULL",
);

pub(crate) static FIND: Statement = Statement::system(
    "workspace.find",
    "SELECT id, name, settings, grants, revision, created_at, updated_at FROM workspaces
     WHERE name = $1 AND deleted_at IS NULL",
);

pub(crate) static LIST: Statement = Statement::system(
    "workspace.list",
    "SELECT id, name, settings, grants, revision, created_at, updated_at FROM workspaces
     WHERE deleted_at IS NULL AND (id < $1 OR $1 IS NULL)
     ORDER BY id DESC LIMIT $2",
);

pub(crate) static ADD: Statement = Statement::system(
    "workspace.add",
    "INSERT INTO workspaces (id, name, settings, revision, created_at, updated_at, deleted_at)
     VALUES ($1, $2, $3, $4, $5, $6, NULL)",
);

static UPDATE: Statement = Statement::system(
    "workspace.update",
    "UPDATE workspaces SET settings = $2, revision = $3, updated_at = $4, grants = $5
     WHERE id = $1 AND revision = $3 - 1 AND deleted_at IS NULL",
);

pub(crate) static HIDE: Statement = Statement::system(
    "workspace.hide",
    "UPDATE workspaces SET deleted_at = $2 WHERE id = $1 AND deleted_at IS NULL RETURNING id",
);

pub(crate) static EXISTS: Statement =
    Statement::system("workspace.exists", "SELECT id FROM workspaces WHERE id = $1");

pub(crate) static ERASE: Statement =
    Statement::workspace("workspace.erase", "DELETE FROM workspaces WHERE id = $1 RETURNING id");

pub(crate) static ERASE_TOKENS: Statement = Statement::workspace(
    "workspace.erase_tokens",
    "DELETE FROM tokens WHERE workspace_id = $1 RETURNING id",
);

/// A table that holds rows of workspaces: how to count and how to empty it.
pub(crate) struct Content {
    pub(crate) table: &'static str,
    pub(crate) count: Statement,
    pub(crate) empty: Statement,
}

macro_rules! contents {
    ($($table:literal),* $(,)?) => {
        /// Every table with rows of workspaces. A test compares it with the schema, so that a
        /// new table cannot be forgotten by a hard delete.
        pub(crate) static CONTENTS: &[Content] = &[$(Content {
            table: $table,
            count: Statement::workspace(
                concat!("workspace.count_", $table),
                concat!("SELECT count(*) AS rows FROM ", $table, " WHERE workspace_id = $1"),
            ),
            empty: Statement::workspace(
                concat!("workspace.empty_", $table),
                concat!("DELETE FROM ", $table, " WHERE workspace_id = $1"),
            ),
        }),*];
    };
}

contents![
    "secrets",
    "reviews",
    "sightings",
    "episodes",
    "turns",
    "conversations",
    "goals",
    "strategy_words",
    "strategies",
    "tool_invocations",
    "tools",
    "profiles",
    "scratchpads",
    "timeline",
    "domains",
    "policies",
    "patterns",
    "showings",
    "minings",
    "audit",
    "jobs",
    "answers",
    "citations",
    "runs",
    "edges",
    "vectors",
    "memories",
    "node_words",
    "node_aliases",
    "nodes",
    "owners",
    "tombstones",
    "actions",
    "action_nodes",
    "sequences",
    "sequence_keys",
    "intents",
    "intent_words",
    "action_counts",
    "key_counts",
    "unmined",
    "benchmarks",
    "metrics",
];

pub(crate) static ALL: &[&Statement] =
    &[&LOOKUP, &FIND, &LIST, &ADD, &UPDATE, &HIDE, &EXISTS, &ERASE, &ERASE_TOKENS];

pub(crate) fn add(workspace: &Workspace) -> Result<Step> {
    let params = values![
        workspace.id.0,
        &workspace.name,
        settings(workspace)?,
        workspace.revision,
        workspace.created_at,
        workspace.updated_at,
    ];
    Ok(Step::new(&ADD, params))
}

pub(crate) fn update(workspace: &Workspace) -> Result<Step> {
    let params = values![
        workspace.id.0,
        settings(workspace)?,
        workspace.revision,
        workspace.updated_at,
        grants(workspace)?
    ];
    Ok(super::exactly_one(&UPDATE, params))
}

pub(crate) fn from_row(row: &Row) -> Result<Workspace> {
    Ok(Workspace {
        id: WorkspaceId(row.uuid("id")?),
        name: row.string("name")?,
        settings: row.decode("settings")?,
        grants: row.decode("grants")?,
        revision: row.int("revision")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
    })
}

fn grants(workspace: &Workspace) -> Result<Value> {
    serde_json::to_value(&workspace.grants)
        .map(Value::Json)
        .map_err(|e| Error::internal("grants cannot be written").caused_by(e))
}

fn settings(workspace: &Workspace) -> Result<Value> {
    serde_json::to_value(&workspace.settings)
        .map(Value::Json)
        .map_err(|e| Error::internal("settings cannot be written").caused_by(e))
}
