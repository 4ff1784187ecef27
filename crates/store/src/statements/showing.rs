//! What was shown of patterns, and what came of it.

use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::ids::{PatternId, SequenceId};
use mnemic_core::pattern::{Aftermath, Count, Effect, PatternKey, Showing};
use uuid::Uuid;

use super::pattern::{key, key_from};
use super::{exactly_one, limit as rows};
use crate::{Fields, Row, Statement, Step, Value, values};

macro_rules! columns {
    () => {
        "id, pattern_id, action_type, node_type, error_code, session_id, held_out, at"
    };
}

/// One that waits already is the same showing.
static ADD: Statement = Statement::workspace(
    "showing.add",
    concat!(
        "INSERT INTO showings (workspace_id, ",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING"
    ),
);

static SETTLE: Statement = Statement::workspace(
    "showing.settle",
    "UPDATE showings SET sequence_id = $3, avoided = $4, settled_at = $5
     WHERE workspace_id = $1 AND id = $2 AND settled_at IS NULL",
);

static ERASE_OF: Statement = Statement::workspace(
    "showing.erase_of",
    "DELETE FROM showings WHERE workspace_id = $1 AND session_id = $2 AND (at <= $3 OR $3 IS NULL)",
);

pub(crate) static WAITING: Statement = Statement::workspace(
    "showing.waiting",
    "SELECT action_type, node_type, error_code FROM showings
     WHERE workspace_id = $1 AND session_id = $2 AND settled_at IS NULL",
);

pub(crate) static UNSETTLED: Statement = Statement::workspace(
    "showing.unsettled",
    concat!(
        "SELECT ",
        columns!(),
        " FROM showings
         WHERE workspace_id = $1 AND (id > $2 OR $2 IS NULL) AND at < $3 AND settled_at IS NULL
         ORDER BY id LIMIT $4"
    ),
);

/// What is done at the very moment of the showing is not behind it.
pub(crate) static AFTERMATH: Statement = Statement::workspace(
    "showing.aftermath",
    "SELECT s.id, s.closed_at,
            EXISTS (SELECT 1 FROM actions a
                    WHERE a.workspace_id = $1 AND a.sequence_id = s.id AND a.at > $3
                      AND a.action_type = $5 AND coalesce(a.node_type, '') = $6
                      AND a.error_code = $7) AS failed
     FROM sequences s
     WHERE s.workspace_id = $1 AND s.session_id = $2 AND s.last_at > $3 AND s.first_at <= $4
     ORDER BY s.last_at, s.id LIMIT 1",
);

pub(crate) static EFFECT: Statement = Statement::workspace(
    "showing.effect",
    "SELECT held_out, count(*) AS shown, sum(CASE WHEN avoided THEN 1 ELSE 0 END) AS avoided
     FROM showings
     WHERE workspace_id = $1 AND action_type = $2 AND node_type = $3 AND error_code = $4
       AND avoided IS NOT NULL
     GROUP BY held_out",
);

/// A sequence that was warned of several things went well if none of them happened.
pub(crate) static TALLY: Statement = Statement::workspace(
    "showing.tally",
    "SELECT count(*) AS shown, coalesce(sum(w.avoided), 0) AS avoided
     FROM (SELECT sequence_id, min(CASE WHEN avoided THEN 1 ELSE 0 END) AS avoided
           FROM showings
           WHERE workspace_id = $1 AND NOT held_out AND avoided IS NOT NULL
             AND (at >= $2 OR $2 IS NULL) AND (at < $3 OR $3 IS NULL)
           GROUP BY sequence_id) w",
);

pub(crate) static ALL: &[&Statement] =
    &[&ADD, &SETTLE, &ERASE_OF, &WAITING, &UNSETTLED, &AFTERMATH, &EFFECT, &TALLY];

pub(crate) fn add(new: &Showing) -> Step {
    let mut params = values![new.id, new.pattern_id.0];
    params.extend(key(&new.key));
    params.extend(values![&new.session_id, new.held_out, new.at]);
    Step::new(&ADD, params)
}

/// The sequence behind it and whether it went well there; nothing if there was none.
pub(crate) fn settle(id: Uuid, outcome: Option<(SequenceId, bool)>, at: Timestamp) -> Step {
    let (sequence, avoided) = outcome.unzip();
    exactly_one(&SETTLE, values![id, sequence.map(|id| id.0), avoided, at])
}

/// What a session was shown; of all times, or until one.
pub(crate) fn erase_of(session: &str, until: Option<Timestamp>) -> Step {
    Step::new(&ERASE_OF, values![session, until]).counted("showings")
}

pub(crate) fn unsettled(before: Timestamp, after: Option<Uuid>, limit: usize) -> Vec<Value> {
    values![after, before, rows(limit)]
}

pub(crate) fn aftermath(showing: &Showing, until: Timestamp) -> Vec<Value> {
    let mut params = values![&showing.session_id, showing.at, until];
    params.extend(key(&showing.key));
    params
}

pub(crate) fn of_key(of: &PatternKey) -> Vec<Value> {
    key(of).into()
}

pub(crate) fn from_row(row: &Row) -> Result<Showing> {
    Ok(Showing {
        id: row.uuid("id")?,
        pattern_id: PatternId(row.uuid("pattern_id")?),
        key: key_from(row)?,
        session_id: row.string("session_id")?,
        held_out: row.bool("held_out")?,
        at: row.time("at")?,
    })
}

pub(crate) fn aftermath_from(row: &Row) -> Result<Aftermath> {
    Ok(Aftermath {
        sequence_id: SequenceId(row.uuid("id")?),
        closed: row.opt_time("closed_at")?.is_some(),
        failed: row.bool("failed")?,
    })
}

/// The rows of those who were told and of those who were not.
pub(crate) fn effect_from(rows: &[Row]) -> Result<Effect> {
    let nothing = Count { hits: 0, of: 0 };
    let mut effect = Effect { shown: nothing, held_out: nothing };
    for row in rows {
        let count = count_from(row)?;
        if row.bool("held_out")? {
            effect.held_out = count;
        } else {
            effect.shown = count;
        }
    }
    Ok(effect)
}

pub(crate) fn count_from(row: &Row) -> Result<Count> {
    let number = |name: &str| row.int(name).map(|it| u64::try_from(it).unwrap_or(0));
    Ok(Count { hits: number("avoided")?, of: number("shown")? })
}
