//! In which conversations memories were recalled, and which of them are prominent by that.

use mnemic_core::ids::MemoryId;
use mnemic_core::workspace::PromotionSettings;

use super::limit as rows;
use crate::{Statement, Step, Value, values};

/// Only of what still exists.
pub(crate) static ADD: Statement = Statement::workspace(
    "sighting.add",
    "INSERT INTO sightings (workspace_id, memory_id, conversation_id)
     SELECT $1, m.id, $3 FROM memories m WHERE m.workspace_id = $1 AND m.id = $2
     ON CONFLICT (workspace_id, memory_id, conversation_id) DO NOTHING",
);

static ERASE_OF: Statement = Statement::workspace(
    "sighting.erase_of",
    "DELETE FROM sightings WHERE workspace_id = $1 AND memory_id = $2",
);

/// Live facts of a channel that are not in `_global` already, neither as a copy nor by chance.
pub(crate) static PROMINENT: Statement = Statement::workspace(
    "sighting.prominent",
    "SELECT m.id, (SELECT count(*) FROM sightings s
                   WHERE s.workspace_id = $1 AND s.memory_id = m.id) AS conversations
     FROM memories m
     WHERE m.workspace_id = $1 AND m.kind = 'fact' AND m.channel <> '_global'
       AND m.deleted_at IS NULL AND m.superseded_at IS NULL
       AND m.confidence >= $2 AND m.access_count >= $3
       AND (SELECT count(*) FROM sightings s
            WHERE s.workspace_id = $1 AND s.memory_id = m.id) >= $4
       AND NOT EXISTS (SELECT 1 FROM edges e
                       WHERE e.workspace_id = $1 AND e.target_id = m.id
                         AND e.relation = 'PROMOTED_FROM')
       AND NOT EXISTS (SELECT 1 FROM memories g
                       WHERE g.workspace_id = $1 AND g.channel = '_global'
                         AND g.content = m.content AND g.deleted_at IS NULL
                         AND g.superseded_at IS NULL)
     ORDER BY m.id LIMIT $5",
);

pub(crate) static ALL: &[&Statement] = &[&ADD, &ERASE_OF, &PROMINENT];

pub(crate) fn add(memory: MemoryId, conversation: &str) -> Step {
    Step::new(&ADD, values![memory.0, conversation])
}

pub(crate) fn erase_of(memory: MemoryId) -> Step {
    Step::new(&ERASE_OF, values![memory.0])
}

pub(crate) fn prominent(thresholds: &PromotionSettings, limit: usize) -> Vec<Value> {
    values![
        thresholds.confidence,
        i64::from(thresholds.access_count),
        i64::from(thresholds.conversations),
        rows(limit),
    ]
}
