//! Vectors and the texts that lack one.

use mnemic_core::Result;
use mnemic_core::embed::ModelStamp;
use mnemic_core::store::{Embedded, Unembedded};
use uuid::Uuid;

use crate::{Fields, Row, Statement, Step, values};

/// The vector is taken only for the very text that it was made of.
static PUT: Statement = Statement::workspace(
    "vector.put",
    "INSERT INTO vectors (workspace_id, item_id, model, code, vector)
     SELECT $1, m.id, $3, $4, $5 FROM memories m
     WHERE m.workspace_id = $1 AND m.id = $2 AND m.content = $6
     ON CONFLICT (workspace_id, item_id, model)
     DO UPDATE SET code = excluded.code, vector = excluded.vector",
);

pub(crate) static LOOKUP: Statement = Statement::workspace(
    "vector.lookup",
    "SELECT item_id, vector FROM vectors WHERE workspace_id = $1 AND item_id = $2 AND model = $3",
);

pub(crate) static LIST_MISSING: Statement = Statement::workspace(
    "vector.list_missing",
    "SELECT m.id, m.content FROM memories m
     WHERE m.workspace_id = $1 AND (m.id > $2 OR $2 IS NULL) AND m.deleted_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM vectors v
                       WHERE v.workspace_id = $1 AND v.item_id = m.id AND v.model = $3)
     ORDER BY m.id LIMIT $4",
);

pub(crate) static COUNT_MISSING: Statement = Statement::workspace(
    "vector.count_missing",
    "SELECT count(*) AS rows FROM memories m
     WHERE m.workspace_id = $1 AND m.deleted_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM vectors v
                       WHERE v.workspace_id = $1 AND v.item_id = m.id AND v.model = $2)",
);

pub(crate) static LOOKUP_TEXT: Statement = Statement::workspace(
    "vector.lookup_text",
    "SELECT m.id, m.content FROM memories m
     WHERE m.workspace_id = $1 AND m.id = $2 AND m.deleted_at IS NULL",
);

static ERASE_OF: Statement = Statement::workspace(
    "vector.erase_of",
    "DELETE FROM vectors WHERE workspace_id = $1 AND item_id = $2",
);

pub(crate) static DROP_OTHERS: Statement = Statement::workspace(
    "vector.drop_others",
    "DELETE FROM vectors WHERE workspace_id = $1 AND model <> $2 RETURNING item_id",
);

pub(crate) static ALL: &[&Statement] =
    &[&PUT, &LOOKUP, &LIST_MISSING, &COUNT_MISSING, &LOOKUP_TEXT, &ERASE_OF, &DROP_OTHERS];

pub(crate) fn put(stamp: &ModelStamp, embedded: &Embedded) -> Step {
    let code = mnemic_recall::quantise(&embedded.vector);
    let params = values![embedded.id, stamp.key(), code, embedded.vector.clone(), &embedded.text];
    Step::new(&PUT, params)
}

pub(crate) fn erase_of(id: Uuid) -> Step {
    Step::new(&ERASE_OF, values![id])
}

pub(crate) fn text_from_row(row: &Row) -> Result<Unembedded> {
    Ok(Unembedded { id: row.uuid("id")?, text: row.string("content")? })
}
