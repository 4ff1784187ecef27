//! Edges between records.

use mnemic_core::edge::{Edge, SUPERSEDES};
use uuid::Uuid;

use crate::{Statement, Step, values};

static ADD: Statement = Statement::workspace(
    "edge.add",
    "INSERT INTO edges (workspace_id, id, channel, source_id, target_id, relation, properties,
                        valid_from, valid_to, recorded_at, superseded_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
);

/// What `$2` had replaced is now replaced by the one that replaced `$2`, if there is one.
static BRIDGE: Statement = Statement::workspace(
    "edge.bridge",
    "UPDATE edges SET source_id =
         (SELECT gone.superseded_by FROM memories gone
          WHERE gone.workspace_id = $1 AND gone.id = $2)
     WHERE workspace_id = $1 AND source_id = $2 AND relation = $3
       AND EXISTS (SELECT 1 FROM memories gone
                   WHERE gone.workspace_id = $1 AND gone.id = $2
                     AND gone.superseded_by IS NOT NULL)",
);

static ERASE_OF: Statement = Statement::workspace(
    "edge.erase_of",
    "DELETE FROM edges WHERE workspace_id = $1 AND (source_id = $2 OR target_id = $2)",
);

pub(crate) static ALL: &[&Statement] = &[&ADD, &BRIDGE, &ERASE_OF];

pub(crate) fn add(edge: &Edge) -> Step {
    let params = values![
        edge.id.0,
        &edge.channel,
        edge.source_id,
        edge.target_id,
        &edge.relation,
        edge.properties.clone(),
        edge.valid_from,
        edge.valid_to,
        edge.recorded_at,
        edge.superseded_at,
    ];
    Step::new(&ADD, params)
}

/// Closes the gap that a memory leaves in its chain of replacements.
pub(crate) fn bridge(id: Uuid) -> Step {
    Step::new(&BRIDGE, values![id, SUPERSEDES])
}

/// Every edge from or to a record.
pub(crate) fn erase_of(id: Uuid) -> Step {
    Step::new(&ERASE_OF, values![id])
}
