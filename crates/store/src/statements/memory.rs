//! Memories and facts.

use jiff::Timestamp;
use mnemic_core::grant::Readable;
use mnemic_core::ids::MemoryId;
use mnemic_core::memory::{Memory, MemoryFilter};
use mnemic_core::{Code, Error, Result};
use uuid::Uuid;

use super::access::{readable, readable_params};
use super::{exactly_one, limit, names};
use crate::{Fields, Row, Statement, Step, Value, values};

macro_rules! columns {
    () => {
        "id, kind, channel, domain, topic, content, confidence, weight, source, source_ids, \
         entities, temporal, valid_from, valid_to, superseded_by, superseded_at, access_count, \
         last_accessed, times_referenced, pinned, created_by, created_at, updated_at, \
         deleted_at, revision"
    };
}

pub(crate) static LOOKUP: Statement = Statement::workspace(
    "memory.lookup",
    concat!("SELECT ", columns!(), " FROM memories WHERE workspace_id = $1 AND id = $2"),
);

/// As of `$9` in the world: from its stated or else recorded beginning to its stated end or
/// its replacement, whichever came first. As known at `$10`: from its recording to its replacement.
pub(crate) static LIST: Statement = Statement::workspace(
    "memory.list",
    concat!(
        "SELECT ",
        columns!(),
        " FROM memories
         WHERE workspace_id = $1
           AND (id < $2 OR $2 IS NULL)
           AND (kind = $3 OR $3 IS NULL)
           AND (channel = $4 OR $4 IS NULL)
           AND (domain = $5 OR $5 IS NULL)
           AND (topic = $6 OR $6 IS NULL)
           AND (pinned = $7 OR $7 IS NULL)
           AND (deleted_at IS NOT NULL) = $8
           AND ((coalesce(valid_from, created_at) <= $9
                 AND (valid_to IS NULL OR valid_to > $9)
                 AND (superseded_at IS NULL OR superseded_at > $9)) OR $9 IS NULL)
           AND ((created_at <= $10
                 AND (superseded_at IS NULL OR superseded_at > $10)) OR $10 IS NULL)
           AND ($11 OR superseded_at IS NULL) AND ",
        readable!("domain", "$12", "$13"),
        " ORDER BY id DESC LIMIT $14"
    ),
);

pub(crate) static RECOMMENDED_PINS: Statement = Statement::workspace(
    "memory.recommended_pins",
    concat!(
        "SELECT ",
        columns!(),
        " FROM memories
         WHERE workspace_id = $1 AND times_referenced > 0 AND times_referenced >= $2
           AND pinned = $3 AND deleted_at IS NULL AND superseded_at IS NULL AND ",
        readable!("domain", "$4", "$5"),
        " ORDER BY times_referenced DESC, id DESC LIMIT $6"
    ),
);

pub(crate) static STALE: Statement = Statement::workspace(
    "memory.stale",
    concat!(
        "SELECT ",
        columns!(),
        " FROM memories
         WHERE workspace_id = $1 AND (id > $2 OR $2 IS NULL) AND created_at < $3
           AND kind = 'memory' AND times_referenced = 0 AND pinned = $4
           AND deleted_at IS NULL AND superseded_at IS NULL AND ",
        readable!("domain", "$5", "$6"),
        " ORDER BY id LIMIT $7"
    ),
);

static ADD: Statement = Statement::workspace(
    "memory.add",
    concat!(
        "INSERT INTO memories (workspace_id, ",
        columns!(),
        ")
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
                 $19, $20, $21, $22, $23, $24, $25, $26)"
    ),
);

/// Counters are left alone: they are moved by their own statements and never set.
static UPDATE: Statement = Statement::workspace(
    "memory.update",
    "UPDATE memories SET kind = $3, channel = $4, domain = $5, topic = $6, content = $7,
         confidence = $8, weight = $9, source = $10, source_ids = $11, entities = $12,
         temporal = $13, valid_from = $14, valid_to = $15, superseded_by = $16,
         superseded_at = $17, pinned = $18, updated_at = $19, deleted_at = $20, revision = $21
     WHERE workspace_id = $1 AND id = $2 AND revision = $21 - 1",
);

pub(crate) static TOUCH: Statement = Statement::workspace(
    "memory.touch",
    "UPDATE memories SET access_count = access_count + 1, last_accessed = $3
     WHERE workspace_id = $1 AND id = $2",
);

static COUNT_REFERENCE: Statement = Statement::workspace(
    "memory.count_reference",
    "UPDATE memories SET times_referenced = times_referenced + 1
     WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL",
);

pub(crate) static COUNT: Statement = Statement::workspace(
    "memory.count",
    "SELECT count(*) AS rows FROM memories WHERE workspace_id = $1 AND deleted_at IS NULL",
);

/// Changes nothing, but holds the row until the batch is done where batches run side by side.
static REQUIRE_LIVE: Statement = Statement::workspace(
    "memory.require_live",
    "UPDATE memories SET superseded_at = NULL
     WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL AND superseded_at IS NULL",
);

static ERASE: Statement = Statement::workspace(
    "memory.erase",
    "DELETE FROM memories WHERE workspace_id = $1 AND id = $2",
);

static ERASE_STALE: Statement = Statement::workspace(
    "memory.erase_stale",
    "DELETE FROM memories
     WHERE workspace_id = $1 AND id = $2 AND created_at < $3 AND kind = 'memory'
       AND times_referenced = 0 AND pinned = $4
       AND deleted_at IS NULL AND superseded_at IS NULL",
);

/// What an erased memory had replaced points to its own replacement; without one it stays
/// retired, so that nothing outdated comes back to life. It counts as a change, so that one that
/// was decided before cannot write the old pointer back.
static UNLINK: Statement = Statement::workspace(
    "memory.unlink",
    "UPDATE memories SET revision = revision + 1, superseded_by =
         (SELECT gone.superseded_by FROM memories gone
          WHERE gone.workspace_id = $1 AND gone.id = $2)
     WHERE workspace_id = $1 AND superseded_by = $2",
);

/// What the search index is built of. `$2` is the model whose vectors are searched.
pub(crate) static SEARCH_ENTRIES: Statement = Statement::workspace(
    "memory.search_entries",
    "SELECT m.id, m.content, m.kind, m.channel, m.domain, m.topic, m.pinned, m.created_at,
            m.valid_from, m.valid_to, m.superseded_at, v.code, v.pieces
     FROM memories m LEFT JOIN vectors v
       ON v.workspace_id = $1 AND v.item_id = m.id AND v.model = $2
     WHERE m.workspace_id = $1 AND m.deleted_at IS NULL",
);

pub(crate) static SEARCH_ENTRY: Statement = Statement::workspace(
    "memory.search_entry",
    "SELECT m.id, m.content, m.kind, m.channel, m.domain, m.topic, m.pinned, m.created_at,
            m.valid_from, m.valid_to, m.superseded_at, v.code, v.pieces
     FROM memories m LEFT JOIN vectors v
       ON v.workspace_id = $1 AND v.item_id = m.id AND v.model = $2
     WHERE m.workspace_id = $1 AND m.deleted_at IS NULL AND m.id = $3",
);

pub(crate) static ALL: &[&Statement] = &[
    &LOOKUP,
    &LIST,
    &RECOMMENDED_PINS,
    &STALE,
    &ADD,
    &UPDATE,
    &TOUCH,
    &COUNT_REFERENCE,
    &COUNT,
    &REQUIRE_LIVE,
    &ERASE,
    &ERASE_STALE,
    &UNLINK,
    &SEARCH_ENTRIES,
    &SEARCH_ENTRY,
];

pub(crate) fn list(
    filter: &MemoryFilter,
    visible: &Readable,
    after: Option<Uuid>,
    rows_max: usize,
) -> Vec<Value> {
    let superseded_too =
        filter.include_superseded || filter.as_of.is_some() || filter.known_at.is_some();
    let mut params = values![
        after,
        filter.kind.map(mnemic_core::memory::Kind::as_str),
        filter.channel.as_deref(),
        filter.domain.as_deref(),
        filter.topic.as_deref(),
        filter.pinned,
        filter.deleted,
        filter.as_of,
        filter.known_at,
        superseded_too,
    ];
    bounded(&mut params, visible, rows_max);
    params
}

/// Every list ends with who may see what, and how much of it is wanted.
fn bounded(params: &mut Vec<Value>, visible: &Readable, rows_max: usize) {
    params.extend(readable_params(visible));
    params.push(Value::Int(limit(rows_max)));
}

pub(crate) fn recommended_pins(
    references_min: i64,
    visible: &Readable,
    rows_max: usize,
) -> Vec<Value> {
    let mut params = values![references_min, false];
    bounded(&mut params, visible, rows_max);
    params
}

pub(crate) fn stale(
    before: Timestamp,
    visible: &Readable,
    after: Option<Uuid>,
    rows_max: usize,
) -> Vec<Value> {
    let mut params = values![after, before, false];
    bounded(&mut params, visible, rows_max);
    params
}

/// The values from `id` to `superseded_at`, in the order in which both statements take them.
fn described(memory: &Memory) -> Vec<Value> {
    values![
        memory.id.0,
        memory.kind.as_str(),
        &memory.channel,
        memory.domain.as_deref(),
        memory.topic.as_deref(),
        &memory.content,
        memory.confidence,
        memory.weight,
        memory.source.as_deref(),
        names(&memory.source_ids),
        names(&memory.entities),
        memory.temporal.map(mnemic_core::memory::Temporal::as_str),
        memory.valid_from,
        memory.valid_to,
        memory.superseded_by.map(|id| id.0),
        memory.superseded_at,
    ]
}

pub(crate) fn add(memory: &Memory) -> Step {
    let mut params = described(memory);
    params.extend(values![
        memory.access_count,
        memory.last_accessed,
        memory.times_referenced,
        memory.pinned,
        &memory.created_by,
        memory.created_at,
        memory.updated_at,
        memory.deleted_at,
        memory.revision,
    ]);
    Step::new(&ADD, params)
}

pub(crate) fn update(memory: &Memory) -> Step {
    let mut params = described(memory);
    params.extend(values![memory.pinned, memory.updated_at, memory.deleted_at, memory.revision,]);
    exactly_one(&UPDATE, params)
}

pub(crate) fn require_live(id: MemoryId) -> Step {
    exactly_one(&REQUIRE_LIVE, values![id.0])
}

pub(crate) fn unlink(id: MemoryId) -> Step {
    Step::new(&UNLINK, values![id.0])
}

pub(crate) fn erase(id: MemoryId) -> Step {
    exactly_one(&ERASE, values![id.0])
}

pub(crate) fn erase_stale(id: MemoryId, before: Timestamp) -> Step {
    exactly_one(&ERASE_STALE, values![id.0, before, false])
}

pub(crate) fn count_reference(id: MemoryId) -> Step {
    exactly_one(&COUNT_REFERENCE, values![id.0])
}

pub(crate) fn from_row(row: &Row) -> Result<Memory> {
    let damaged = |e: Error| Error::new(Code::Corrupt, "a stored memory is damaged").caused_by(e);
    let temporal = row.opt_text("temporal")?.map(str::parse).transpose().map_err(damaged)?;
    Ok(Memory {
        id: MemoryId(row.uuid("id")?),
        kind: row.text("kind")?.parse().map_err(damaged)?,
        content: row.string("content")?,
        channel: row.string("channel")?,
        domain: row.opt_string("domain")?,
        topic: row.opt_string("topic")?,
        confidence: row.float("confidence")?,
        weight: row.float("weight")?,
        source: row.opt_string("source")?,
        source_ids: row.decode("source_ids")?,
        entities: row.decode("entities")?,
        temporal,
        valid_from: row.opt_time("valid_from")?,
        valid_to: row.opt_time("valid_to")?,
        superseded_by: row.opt_uuid("superseded_by")?.map(MemoryId),
        superseded_at: row.opt_time("superseded_at")?,
        access_count: row.int("access_count")?,
        last_accessed: row.opt_time("last_accessed")?,
        times_referenced: row.int("times_referenced")?,
        pinned: row.bool("pinned")?,
        created_by: row.string("created_by")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        deleted_at: row.opt_time("deleted_at")?,
        revision: row.int("revision")?,
    })
}
