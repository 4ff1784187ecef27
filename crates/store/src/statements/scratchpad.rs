//! Scratchpads. `content` is a scratchpad's text, which SQL has another use for.

use mnemic_core::Result;
use mnemic_core::scratchpad::Scratchpad;
use uuid::Uuid;

use super::exactly_one;
use crate::{Fields, Row, Statement, Step, values};

pub(crate) static FIND: Statement = Statement::workspace(
    "scratchpad.find",
    "SELECT id, agent, content, created_at, updated_at, revision FROM scratchpads
     WHERE workspace_id = $1 AND agent = $2",
);

pub(crate) static EXISTS: Statement = Statement::workspace(
    "scratchpad.exists",
    "SELECT id FROM scratchpads WHERE workspace_id = $1 AND id = $2",
);

static ADD: Statement = Statement::workspace(
    "scratchpad.add",
    "INSERT INTO scratchpads
         (workspace_id, agent, id, content, created_at, updated_at, revision)
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (workspace_id, agent) DO NOTHING",
);

static UPDATE: Statement = Statement::workspace(
    "scratchpad.update",
    "UPDATE scratchpads SET content = $3, updated_at = $4, revision = $5
     WHERE workspace_id = $1 AND agent = $2 AND revision = $5 - 1",
);

static ERASE: Statement = Statement::workspace(
    "scratchpad.erase",
    "DELETE FROM scratchpads WHERE workspace_id = $1 AND id = $2",
);

pub(crate) static ALL: &[&Statement] = &[&FIND, &EXISTS, &ADD, &UPDATE, &ERASE];

pub(crate) fn add(pad: &Scratchpad) -> Step {
    let params =
        values![&pad.agent, pad.id, &pad.text, pad.created_at, pad.updated_at, pad.revision];
    exactly_one(&ADD, params)
}

pub(crate) fn update(pad: &Scratchpad) -> Step {
    exactly_one(&UPDATE, values![&pad.agent, &pad.text, pad.updated_at, pad.revision])
}

pub(crate) fn erase(id: Uuid) -> Step {
    Step::new(&ERASE, values![id])
}

pub(crate) fn from_row(row: &Row) -> Result<Scratchpad> {
    Ok(Scratchpad {
        id: row.uuid("id")?,
        agent: row.string("agent")?,
        text: row.string("content")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        revision: row.int("revision")?,
    })
}
