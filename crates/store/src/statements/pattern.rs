//! Patterns. Absent node types and error codes are kept as empty texts, so that a key is unique.

use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::ids::PatternId;
use mnemic_core::pattern::{Pair, Pattern, PatternFilter, PatternKey, Share};
use uuid::Uuid;

use super::{exactly_one, limit as rows};
use crate::{Fields, Row, Statement, Step, Value, values};

macro_rules! columns {
    () => {
        "id, action_type, node_type, error_code, sample_count, total_count, promoted_samples, \
         promoted_total, recommendation, replacement, annotation, suppressed, superseded_by, \
         last_seen_at, created_at, updated_at, deleted_at, revision, annotation_by, \
         replacement_by, noted_at"
    };
}

macro_rules! live {
    () => {
        "deleted_at IS NULL AND superseded_by IS NULL"
    };
}

pub(crate) static LOOKUP: Statement = Statement::workspace(
    "pattern.lookup",
    concat!("SELECT ", columns!(), " FROM patterns WHERE workspace_id = $1 AND id = $2"),
);

pub(crate) static LIST: Statement = Statement::workspace(
    "pattern.list",
    concat!(
        "SELECT ",
        columns!(),
        " FROM patterns
         WHERE workspace_id = $1 AND (id < $2 OR $2 IS NULL)
           AND (action_type = $3 OR $3 IS NULL) AND (node_type = $4 OR $4 IS NULL)
           AND (error_code = $5 OR $5 IS NULL) AND ((error_code = '') = $6 OR $6 IS NULL)
           AND (suppressed = $7 OR $7 IS NULL)
           AND (deleted_at IS NULL AND superseded_by IS NULL OR $8)
         ORDER BY id DESC LIMIT $9"
    ),
);

pub(crate) static FIND: Statement = Statement::workspace(
    "pattern.find",
    concat!(
        "SELECT ",
        columns!(),
        " FROM patterns
         WHERE workspace_id = $1 AND action_type = $2 AND node_type = $3 AND superseded_by IS NULL
         ORDER BY id DESC"
    ),
);

pub(crate) static LIVE_OF_NODE_TYPE: Statement = Statement::workspace(
    "pattern.live_of_node_type",
    concat!(
        "SELECT ",
        columns!(),
        " FROM patterns WHERE workspace_id = $1 AND node_type = $2 AND ",
        live!(),
        " ORDER BY sample_count DESC, id LIMIT $3"
    ),
);

pub(crate) static LIVE_OF_ACTION: Statement = Statement::workspace(
    "pattern.live_of_action",
    concat!(
        "SELECT ",
        columns!(),
        " FROM patterns WHERE workspace_id = $1 AND action_type = $2 AND ",
        live!(),
        " ORDER BY sample_count DESC, id LIMIT $3"
    ),
);

pub(crate) static LIVE_OF_PAIR: Statement = Statement::workspace(
    "pattern.live_of_pair",
    concat!(
        "SELECT ",
        columns!(),
        " FROM patterns WHERE workspace_id = $1 AND action_type = $2 AND node_type = $3 AND ",
        live!(),
        " ORDER BY sample_count DESC, id LIMIT $4"
    ),
);

pub(crate) static SUPERSEDED: Statement = Statement::workspace(
    "pattern.superseded",
    concat!(
        "SELECT ",
        columns!(),
        " FROM patterns WHERE workspace_id = $1 AND superseded_by = $2 ORDER BY id DESC"
    ),
);

pub(crate) static FADING: Statement = Statement::workspace(
    "pattern.fading",
    concat!(
        "SELECT ",
        columns!(),
        " FROM patterns
         WHERE workspace_id = $1 AND (id > $2 OR $2 IS NULL) AND ",
        live!(),
        "  AND (last_seen_at <= $3 OR sample_count * 5 < total_count)
         ORDER BY id LIMIT $4"
    ),
);

static ADD: Statement = Statement::workspace(
    "pattern.add",
    concat!(
        "INSERT INTO patterns (workspace_id, ",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
            $19, $20, $21, $22)
         ON CONFLICT DO NOTHING"
    ),
);

static UPDATE: Statement = Statement::workspace(
    "pattern.update",
    "UPDATE patterns SET sample_count = $3, total_count = $4, recommendation = $5,
         replacement = $6, annotation = $7, suppressed = $8, superseded_by = $9,
         last_seen_at = $10, updated_at = $11, deleted_at = $12, revision = $13,
         annotation_by = $14, replacement_by = $15, noted_at = $16
     WHERE workspace_id = $1 AND id = $2 AND revision = $13 - 1",
);

/// Whoever has read the note and would write it again comes too late by its revision.
static BLANK_ANNOTATIONS: Statement = Statement::workspace(
    "pattern.blank_annotations",
    "UPDATE patterns SET annotation = NULL, annotation_by = NULL, revision = revision + 1
     WHERE workspace_id = $1 AND annotation_by = $2 AND (noted_at <= $3 OR $3 IS NULL)",
);

static BLANK_REPLACEMENTS: Statement = Statement::workspace(
    "pattern.blank_replacements",
    "UPDATE patterns SET replacement = NULL, replacement_by = NULL, revision = revision + 1
     WHERE workspace_id = $1 AND replacement_by = $2 AND (noted_at <= $3 OR $3 IS NULL)",
);

pub(crate) static WINDOW: Statement = Statement::workspace(
    "pattern.window",
    "SELECT since_day FROM minings WHERE workspace_id = $1 AND subject = 'patterns'",
);

static MOVE_WINDOW: Statement = Statement::workspace(
    "pattern.move_window",
    "INSERT INTO minings (workspace_id, subject, since_day) VALUES ($1, 'patterns', $2)
     ON CONFLICT (workspace_id, subject) DO UPDATE SET since_day = excluded.since_day",
);

pub(crate) static ALL: &[&Statement] = &[
    &LOOKUP,
    &LIST,
    &FIND,
    &LIVE_OF_NODE_TYPE,
    &LIVE_OF_ACTION,
    &LIVE_OF_PAIR,
    &SUPERSEDED,
    &FADING,
    &ADD,
    &UPDATE,
    &BLANK_ANNOTATIONS,
    &BLANK_REPLACEMENTS,
    &WINDOW,
    &MOVE_WINDOW,
];

pub(crate) fn list(filter: &PatternFilter, after: Option<Uuid>, limit: usize) -> Vec<Value> {
    let success = filter.outcome.map(|outcome| outcome == mnemic_core::action::Outcome::Success);
    values![
        after,
        filter.action_type.as_deref(),
        filter.node_type.as_deref(),
        filter.error_code.as_deref(),
        success,
        filter.suppressed,
        filter.past,
        rows(limit)
    ]
}

pub(crate) fn of_pair(pair: &Pair) -> Vec<Value> {
    values![&pair.action_type, pair.node_word()]
}

/// The parts of a key as they are kept.
pub(crate) fn key(key: &PatternKey) -> [Value; 3] {
    let word = |part: &Option<String>| part.as_deref().unwrap_or_default().into();
    [(&key.action_type).into(), word(&key.node_type), word(&key.error_code)]
}

/// A live one with the same key is a lost race.
pub(crate) fn add(new: &Pattern) -> Step {
    let mut params = values![new.id.0];
    params.extend(key(&new.key));
    params.extend(values![
        new.share.samples,
        new.share.total,
        new.promoted.samples,
        new.promoted.total,
        &new.recommendation,
        new.replacement.as_deref(),
        new.annotation.as_deref(),
        new.suppressed,
        new.superseded_by.map(|id| id.0),
        new.last_seen_at,
        new.created_at,
        new.updated_at,
        new.deleted_at,
        new.revision,
        new.annotation_by.as_deref(),
        new.replacement_by.as_deref(),
        new.noted_at,
    ]);
    exactly_one(&ADD, params)
}

pub(crate) fn update(changed: &Pattern) -> Step {
    let params = values![
        changed.id.0,
        changed.share.samples,
        changed.share.total,
        &changed.recommendation,
        changed.replacement.as_deref(),
        changed.annotation.as_deref(),
        changed.suppressed,
        changed.superseded_by.map(|id| id.0),
        changed.last_seen_at,
        changed.updated_at,
        changed.deleted_at,
        changed.revision,
        changed.annotation_by.as_deref(),
        changed.replacement_by.as_deref(),
        changed.noted_at,
    ];
    exactly_one(&UPDATE, params)
}

/// What a user wrote beside patterns, also beside those that were superseded; of all times, or until
/// one.
pub(crate) fn blank(user: &str, until: Option<Timestamp>) -> [Step; 2] {
    [&BLANK_ANNOTATIONS, &BLANK_REPLACEMENTS]
        .map(|statement| Step::new(statement, values![user, until]).counted("annotations"))
}

pub(crate) fn move_window(since_day: i64) -> Step {
    Step::new(&MOVE_WINDOW, values![since_day])
}

pub(crate) fn key_from(row: &Row) -> Result<PatternKey> {
    let part = |word: String| (!word.is_empty()).then_some(word);
    Ok(PatternKey {
        action_type: row.string("action_type")?,
        node_type: part(row.string("node_type")?),
        error_code: part(row.string("error_code")?),
    })
}

pub(crate) fn from_row(row: &Row) -> Result<Pattern> {
    Ok(Pattern {
        id: PatternId(row.uuid("id")?),
        key: key_from(row)?,
        share: Share::new(row.int("sample_count")?, row.int("total_count")?),
        promoted: Share::new(row.int("promoted_samples")?, row.int("promoted_total")?),
        recommendation: row.string("recommendation")?,
        replacement: row.opt_string("replacement")?,
        annotation: row.opt_string("annotation")?,
        suppressed: row.bool("suppressed")?,
        superseded_by: row.opt_uuid("superseded_by")?.map(PatternId),
        last_seen_at: row.time("last_seen_at")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        deleted_at: row.opt_time("deleted_at")?,
        revision: row.int("revision")?,
        annotation_by: row.opt_string("annotation_by")?,
        replacement_by: row.opt_string("replacement_by")?,
        noted_at: row.opt_time("noted_at")?,
    })
}
