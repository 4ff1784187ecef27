//! Entries of the audit.

use mnemic_core::Result;
use mnemic_core::audit::{AuditFilter, Entry};
use mnemic_core::grant::Readable;
use uuid::Uuid;

use super::access::{readable, readable_params};
use super::{limit as rows, names};
use crate::{Fields, Row, Statement, Step, Value, values};

static ADD: Statement = Statement::workspace(
    "audit.add",
    "INSERT INTO audit
         (workspace_id, id, at, operation, token_id, role, agent, user_name, session_id,
          conversation_id, channel, target_channels, domain, query, record_ids, records,
          latency_us, error, details)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)",
);

/// Ids are ordered by time, so the newest come first. A prefix of operations is a range.
pub(crate) static LIST: Statement = Statement::workspace(
    "audit.list",
    concat!(
        "SELECT id, at, operation, token_id, role, agent, user_name, session_id, conversation_id,
            channel, target_channels, domain, query, record_ids, records, latency_us, error,
            details
     FROM audit
     WHERE workspace_id = $1 AND (id < $2 OR $2 IS NULL)
       AND (operation >= $3 OR $3 IS NULL) AND (operation <= $4 OR $4 IS NULL)
       AND (role = $5 OR $5 IS NULL) AND (agent = $6 OR $6 IS NULL)
       AND (user_name = $7 OR $7 IS NULL) AND (channel = $8 OR $8 IS NULL)
       AND ((error IS NULL) = $9 OR $9 IS NULL)
       AND (at >= $10 OR $10 IS NULL) AND (at < $11 OR $11 IS NULL) AND ",
        readable!("domain", "$12", "$13"),
        " ORDER BY id DESC LIMIT $14"
    ),
);

pub(crate) static COUNT_BEFORE: Statement = Statement::workspace(
    "audit.count_before",
    "SELECT count(*) AS rows FROM audit WHERE workspace_id = $1 AND at < $2",
);

pub(crate) static DROP_BEFORE: Statement = Statement::workspace(
    "audit.drop_before",
    "DELETE FROM audit WHERE workspace_id = $1 AND at < $2",
);

/// An erased text must not live on in what was written down of it.
static ERASE_OF: Statement = Statement::workspace(
    "audit.erase_of",
    "UPDATE audit SET details = NULL
     WHERE workspace_id = $1 AND details IS NOT NULL AND CAST(details AS TEXT) LIKE $2",
);

pub(crate) static ALL: &[&Statement] = &[&ADD, &LIST, &COUNT_BEFORE, &DROP_BEFORE, &ERASE_OF];

pub(crate) fn add(entry: &Entry) -> Step {
    let ids: Vec<_> = entry.record_ids.iter().map(Uuid::to_string).collect();
    let params = values![
        entry.id,
        entry.at,
        &entry.operation,
        entry.token_id,
        &entry.role,
        entry.agent.as_deref(),
        entry.user.as_deref(),
        entry.session_id.as_deref(),
        entry.conversation_id.as_deref(),
        entry.channel.as_deref(),
        names(&entry.target_channels),
        entry.domain.as_deref(),
        entry.query.as_deref(),
        names(&ids),
        i64::try_from(entry.count).unwrap_or(i64::MAX),
        entry.latency_us,
        entry.error.as_deref(),
        entry.details.clone(),
    ];
    Step::new(&ADD, params)
}

pub(crate) fn erase_of(record: Uuid) -> Step {
    Step::new(&ERASE_OF, values![format!("%{record}%")])
}

pub(crate) fn erase_of_connection(connection_id: &str) -> Step {
    Step::new(&ERASE_OF, values![super::answer::of_connection(connection_id)])
}

pub(crate) fn list(
    filter: &AuditFilter,
    visible: &Readable,
    after: Option<Uuid>,
    limit: usize,
) -> Vec<Value> {
    let operation = filter.operation.as_deref();
    // A noun alone stands for all that is done with it.
    let last = operation.map(|name| match name.split_once('.') {
        Some((_, verb)) if !verb.is_empty() => name.to_owned(),
        _ => format!("{}.{}", name.trim_end_matches('.'), char::MAX),
    });
    let mut params = values![
        after,
        operation,
        last,
        filter.role.as_deref(),
        filter.agent.as_deref(),
        filter.user.as_deref(),
        filter.channel.as_deref(),
        filter.success,
        filter.since,
        filter.until,
    ];
    params.extend(readable_params(visible));
    params.push(Value::Int(rows(limit)));
    params
}

pub(crate) fn from_row(row: &Row) -> Result<Entry> {
    Ok(Entry {
        id: row.uuid("id")?,
        at: row.time("at")?,
        operation: row.string("operation")?,
        token_id: row.uuid("token_id")?,
        role: row.string("role")?,
        agent: row.opt_string("agent")?,
        user: row.opt_string("user_name")?,
        session_id: row.opt_string("session_id")?,
        conversation_id: row.opt_string("conversation_id")?,
        channel: row.opt_string("channel")?,
        target_channels: row.decode("target_channels")?,
        domain: row.opt_string("domain")?,
        query: row.opt_string("query")?,
        record_ids: row.decode("record_ids")?,
        count: u64::try_from(row.int("records")?).unwrap_or(0),
        latency_us: row.int("latency_us")?,
        error: row.opt_string("error")?,
        details: row.opt_json("details")?,
    })
}
