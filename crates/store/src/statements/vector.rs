//! Vectors and the texts that lack one.

use std::collections::HashMap;

use mnemic_core::Result;
use mnemic_core::embed::ModelStamp;
use mnemic_core::store::{Embedded, PieceLikeness, Unembedded};
use mnemic_recall::{Likeness, PieceQuery};
use uuid::Uuid;

use crate::{Engine, Fields, Row, Scope, Statement, Step, values};

/// The texts that have vectors, one entry for each kind of item, of which `$which` says which are
/// meant. A node's text is its name and, if it has one, its description; a strategy's, what to do
/// and when.
macro_rules! texts {
    ($which:ident) => {
        concat!(
            "SELECT m.id, 'memory' AS kind, m.content AS text FROM memories m
             WHERE m.workspace_id = $1 AND ",
            $which!("m"),
            " UNION ALL
             SELECT n.id, 'node' AS kind, n.name || coalesce(': ' || n.description, '') AS text
             FROM nodes n WHERE n.workspace_id = $1 AND ",
            $which!("n"),
            " UNION ALL
             SELECT t.id, 'turn' AS kind, t.content AS text FROM turns t
             WHERE t.workspace_id = $1 AND ",
            $which!("t"),
            " UNION ALL
             SELECT s.id, 'strategy' AS kind,
                    s.description || coalesce(': ' || s.context_pattern, '') AS text
             FROM strategies s WHERE s.workspace_id = $1 AND ",
            $which!("s"),
            " UNION ALL
             SELECT i.id, 'intent' AS kind, i.text AS text FROM intents i
             WHERE i.workspace_id = $1 AND ",
            $which!("i")
        )
    };
}

macro_rules! that_one {
    ($item:literal) => {
        concat!($item, ".id = $2")
    };
}

/// Turns and intents are there or gone; the others may be deleted and still there.
macro_rules! live {
    ("t") => {
        ""
    };
    ("i") => {
        ""
    };
    ($item:literal) => {
        concat!($item, ".deleted_at IS NULL AND ")
    };
}

macro_rules! live_one {
    ($item:tt) => {
        concat!(live!($item), $item, ".id = $2")
    };
}

/// Live, and without a vector of the model `$2`.
macro_rules! missing {
    ($item:tt) => {
        concat!(
            live!($item),
            "NOT EXISTS (
                 SELECT 1 FROM vectors v
                 WHERE v.workspace_id = $1 AND v.item_id = ",
            $item,
            ".id AND v.model = $2)"
        )
    };
}

macro_rules! missing_behind {
    ($item:tt) => {
        concat!("(", $item, ".id > $3 OR $3 IS NULL) AND ", missing!($item))
    };
}

/// The vector is taken only for the very text that it was made of.
static PUT: Statement = Statement::workspace(
    "vector.put",
    concat!(
        "INSERT INTO vectors (workspace_id, item_id, model, code, vector, pieces)
         SELECT $1, t.id, $3, $4, $5, $7 FROM (",
        texts!(that_one),
        ") AS t WHERE t.text = $6
         ON CONFLICT (workspace_id, item_id, model)
         DO UPDATE SET code = excluded.code, vector = excluded.vector, pieces = excluded.pieces"
    ),
);

pub(crate) static LOOKUP: Statement = Statement::workspace(
    "vector.lookup",
    "SELECT item_id, vector FROM vectors WHERE workspace_id = $1 AND item_id = $2 AND model = $3",
);

pub(crate) static LOOKUP_PIECES: Statement = Statement::workspace(
    "vector.lookup_pieces",
    "SELECT item_id, pieces FROM vectors
     WHERE workspace_id = $1 AND item_id = $2 AND model = $3 AND pieces IS NOT NULL",
);

pub(crate) static LIST_MISSING: Statement = Statement::workspace(
    "vector.list_missing",
    concat!(texts!(missing_behind), " ORDER BY id LIMIT $4"),
);

pub(crate) static COUNT_MISSING: Statement = Statement::workspace(
    "vector.count_missing",
    concat!("SELECT count(*) AS rows FROM (", texts!(missing), ") AS t"),
);

pub(crate) static LOOKUP_TEXT: Statement =
    Statement::workspace("vector.lookup_text", texts!(live_one));

static ERASE_OF: Statement = Statement::workspace(
    "vector.erase_of",
    "DELETE FROM vectors WHERE workspace_id = $1 AND item_id = $2",
);

pub(crate) static DROP_OTHERS: Statement = Statement::workspace(
    "vector.drop_others",
    "DELETE FROM vectors WHERE workspace_id = $1 AND model <> $2 RETURNING item_id",
);

pub(crate) static ALL: &[&Statement] = &[
    &PUT,
    &LOOKUP,
    &LOOKUP_PIECES,
    &LIST_MISSING,
    &COUNT_MISSING,
    &LOOKUP_TEXT,
    &ERASE_OF,
    &DROP_OTHERS,
];

pub(crate) fn put(stamp: &ModelStamp, embedded: &Embedded) -> Step {
    let code = mnemic_recall::quantise(&embedded.vector);
    let pieces = (!embedded.pieces.is_empty())
        .then(|| mnemic_recall::pack_pieces(&embedded.pieces, stamp.dimensions));
    let (vector, text) = (embedded.vector.clone(), &embedded.text);
    Step::new(&PUT, values![embedded.id, stamp.key(), code, vector, text, pieces])
}

pub(crate) fn erase_of(id: Uuid) -> Step {
    Step::new(&ERASE_OF, values![id])
}

pub(crate) fn vector_from_row(row: &Row) -> Result<(Uuid, Vec<f32>)> {
    Ok((row.uuid("item_id")?, row.vector("vector")?))
}

/// How near a query's packed pieces come to those of the records that have some, as the rows tell.
pub(crate) async fn likeness_of(
    engine: &dyn Engine,
    scope: Scope,
    stamp: &ModelStamp,
    pieces: &[u8],
    ids: &[Uuid],
) -> Result<HashMap<Uuid, PieceLikeness>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let params = ids.iter().map(|id| values![*id, stamp.key()]).collect();
    let found = engine.read_each(scope, &LOOKUP_PIECES, params).await?;
    let mut likeness = HashMap::with_capacity(ids.len());
    let query = PieceQuery::new(pieces, stamp.dimensions);
    for row in found.iter().flatten() {
        if let Some(near) = query.likeness(row.bytes("pieces")?) {
            let Likeness { nearest, pieces } = near;
            likeness.insert(row.uuid("item_id")?, PieceLikeness { nearest, pieces });
        }
    }
    Ok(likeness)
}

pub(crate) fn text_from_row(row: &Row) -> Result<Unembedded> {
    let kind = row.text("kind")?.parse()?;
    Ok(Unembedded { kind, id: row.uuid("id")?, text: row.string("text")? })
}
