//! The timeline. What a change does to a record is told by a statement that runs before it, and
//! compares what is stored with what will be.

use jiff::Timestamp;
use mnemic_core::edge::{Edge, PROMOTED_FROM};
use mnemic_core::grant::Readable;
use mnemic_core::memory::{Kind, Memory};
use mnemic_core::strategy::Strategy;
use mnemic_core::timeline::{Event, Moment, Subject, TimelineFilter, Weights};
use mnemic_core::{Code, Error, Result};
use uuid::Uuid;

use super::access::{readable, readable_params};
use super::limit as rows;
use crate::{Fields, Row, Statement, Step, Value, values};

static LEARN: Statement = Statement::workspace(
    "timeline.learn",
    "INSERT INTO timeline (workspace_id, at, item_id, happening, channel)
     VALUES ($1, $2, $3, 'learned', $4) ON CONFLICT DO NOTHING",
);

/// `$2` is the memory; the others are what it will be.
static CHANGE_MEMORY: Statement = Statement::workspace(
    "timeline.change_memory",
    "INSERT INTO timeline (workspace_id, at, item_id, happening, channel)
     SELECT $1, $3, told.id, told.happening, $4
     FROM (SELECT m.id, CASE
               WHEN m.superseded_at IS NULL AND CAST($5 AS BOOLEAN) THEN 'superseded'
               WHEN m.deleted_at IS NULL AND CAST($6 AS BOOLEAN) THEN 'forgotten'
               WHEN m.deleted_at IS NOT NULL AND NOT $6 THEN 'restored'
               WHEN m.kind = 'memory' AND CAST($7 AS BOOLEAN) THEN 'promoted' END AS happening
           FROM memories m WHERE m.workspace_id = $1 AND m.id = $2) AS told
     WHERE told.happening IS NOT NULL
     ON CONFLICT DO NOTHING",
);

static FORGET_STRATEGY: Statement = Statement::workspace(
    "timeline.forget_strategy",
    "INSERT INTO timeline (workspace_id, at, item_id, happening, channel)
     SELECT $1, $3, s.id, 'forgotten', s.channel
     FROM strategies s WHERE s.workspace_id = $1 AND s.id = $2 AND s.deleted_at IS NULL
     ON CONFLICT DO NOTHING",
);

/// A copy that was promoted was not learned anew.
static PROMOTE_COPY: Statement = Statement::workspace(
    "timeline.promote_copy",
    "UPDATE timeline SET happening = 'promoted'
     WHERE workspace_id = $1 AND item_id = $2 AND happening = 'learned'",
);

static ERASE_OF: Statement = Statement::workspace(
    "timeline.erase_of",
    "DELETE FROM timeline WHERE workspace_id = $1 AND item_id = $2",
);

/// The latest first. Each event with what its record is by now.
pub(crate) static LIST: Statement = Statement::workspace(
    "timeline.list",
    concat!(
        "SELECT t.at, t.item_id, t.happening, t.channel, coalesce(m.domain, s.domain) AS domain,
                coalesce(m.kind, 'strategy') AS subject,
                substr(coalesce(m.content, s.description), 1, 200) AS summary, m.confidence,
                m.pinned, m.times_referenced, s.success_count, s.failure_count
         FROM timeline t
         LEFT JOIN memories m ON m.workspace_id = $1 AND m.id = t.item_id
         LEFT JOIN strategies s ON s.workspace_id = $1 AND s.id = t.item_id
         WHERE t.workspace_id = $1 AND (m.id IS NOT NULL OR s.id IS NOT NULL)
           AND (t.channel = $2 OR $2 IS NULL) AND (t.happening = $3 OR $3 IS NULL)
           AND (coalesce(m.kind, 'strategy') = $4 OR $4 IS NULL)
           AND (t.at >= $5 OR $5 IS NULL) AND (t.at < $6 OR $6 IS NULL)
           AND (t.at < $7 OR (t.at = $7 AND (t.item_id < $8
                              OR (t.item_id = $8 AND t.happening < $9))) OR $7 IS NULL)
           AND ",
        readable!("coalesce(m.domain, s.domain)", "$10", "$11"),
        " ORDER BY t.at DESC, t.item_id DESC, t.happening DESC LIMIT $12"
    ),
);

pub(crate) static ALL: &[&Statement] =
    &[&LEARN, &CHANGE_MEMORY, &FORGET_STRATEGY, &PROMOTE_COPY, &ERASE_OF, &LIST];

pub(crate) fn learn(id: Uuid, channel: &str, at: Timestamp) -> Step {
    Step::new(&LEARN, values![at, id, channel])
}

/// To be run before the memory is changed.
pub(crate) fn change_memory(changed: &Memory) -> Step {
    let params = values![
        changed.id.0,
        changed.updated_at,
        &changed.channel,
        changed.superseded_at.is_some(),
        changed.deleted_at.is_some(),
        changed.kind == Kind::Fact,
    ];
    Step::new(&CHANGE_MEMORY, params)
}

/// To be run before the strategy is changed.
pub(crate) fn change_strategy(changed: &Strategy) -> Option<Step> {
    changed.deleted_at.map(|at| Step::new(&FORGET_STRATEGY, values![changed.id.0, at]))
}

/// What an edge that is made tells of where it begins.
pub(crate) fn join(edge: &Edge) -> Option<Step> {
    let is_copy = edge.relation == PROMOTED_FROM;
    is_copy.then(|| Step::new(&PROMOTE_COPY, values![edge.source_id]))
}

pub(crate) fn erase_of(id: Uuid) -> Step {
    Step::new(&ERASE_OF, values![id])
}

pub(crate) fn list(
    filter: &TimelineFilter,
    visible: &Readable,
    after: Option<Moment>,
    limit: usize,
) -> Vec<Value> {
    let mut params = values![
        filter.channel.as_deref(),
        filter.happening.map(mnemic_core::timeline::Happening::as_str),
        filter.subject.map(Subject::as_str),
        filter.since,
        filter.until,
        after.map(|moment| moment.at),
        after.map(|moment| moment.record_id),
        after.map(|moment| moment.happening.as_str()),
    ];
    params.extend(readable_params(visible));
    params.push(Value::Int(rows(limit)));
    params
}

pub(crate) fn from_row(row: &Row) -> Result<Event> {
    let damaged = |e: Error| Error::new(Code::Corrupt, "a stored event is damaged").caused_by(e);
    let subject: Subject = row.text("subject")?.parse().map_err(damaged)?;
    Ok(Event {
        at: row.time("at")?,
        happening: row.text("happening")?.parse().map_err(damaged)?,
        subject,
        record_id: row.uuid("item_id")?,
        channel: row.string("channel")?,
        domain: row.opt_string("domain")?,
        summary: row.string("summary")?,
        importance: weights(row, subject)?.importance(),
    })
}

fn weights(row: &Row, subject: Subject) -> Result<Weights> {
    if subject == Subject::Strategy {
        let successes = row.opt_int("success_count")?.unwrap_or_default() as f64;
        let failures = row.opt_int("failure_count")?.unwrap_or_default() as f64;
        let trust = (successes + 1.0) / (successes + failures + 2.0);
        return Ok(Weights { trust, ..Weights::default() });
    }
    Ok(Weights {
        trust: row.opt_float("confidence")?.unwrap_or_default(),
        fact: subject == Subject::Fact,
        pinned: row.opt_bool("pinned")?.unwrap_or_default(),
        times_referenced: row.opt_int("times_referenced")?.unwrap_or_default(),
    })
}
