//! Finding nodes by their names and words. Every statement is cut, so that a common word or the
//! beginning of many names costs no more than a rare one.

use mnemic_core::grant::Readable;
use mnemic_core::memory::GLOBAL_CHANNEL;
use mnemic_core::node::NodeFilter;

use super::access::{readable, readable_params};
use super::{limit, wishes};
use crate::{Statement, Value, values};

pub(crate) static BY_NAME: Statement = Statement::workspace(
    "node_search.by_name",
    concat!(
        "SELECT node_id FROM node_aliases
         WHERE workspace_id = $1 AND (channel IN ($2, $3) OR $2 IS NULL)
           AND (type IN ($4, $5, $6, $7, $8, $9, $10, $11) OR $4 IS NULL) AND ",
        readable!("nullif(domain, '')", "$12", "$13"),
        " AND alias_key = $14
         ORDER BY node_id LIMIT $15"
    ),
);

pub(crate) static BY_PREFIX: Statement = Statement::workspace(
    "node_search.by_prefix",
    concat!(
        "SELECT node_id, alias_key FROM node_aliases
         WHERE workspace_id = $1 AND (channel IN ($2, $3) OR $2 IS NULL)
           AND (type IN ($4, $5, $6, $7, $8, $9, $10, $11) OR $4 IS NULL) AND ",
        readable!("nullif(domain, '')", "$12", "$13"),
        " AND alias_key > $14 AND alias_key < $15
         ORDER BY alias_key, node_id LIMIT $16"
    ),
);

/// Of a word that too many have, those with the newest nodes.
pub(crate) static BY_WORD: Statement = Statement::workspace(
    "node_search.by_word",
    concat!(
        "SELECT w.node_id, w.weight FROM node_words w
         JOIN nodes n ON n.workspace_id = $1 AND n.id = w.node_id
         WHERE w.workspace_id = $1 AND (n.channel IN ($2, $3) OR $2 IS NULL)
           AND (n.type IN ($4, $5, $6, $7, $8, $9, $10, $11) OR $4 IS NULL) AND ",
        readable!("n.domain", "$12", "$13"),
        " AND w.term = $14
         ORDER BY w.node_id DESC LIMIT $15"
    ),
);

pub(crate) static ALL: &[&Statement] = &[&BY_NAME, &BY_PREFIX, &BY_WORD];

fn filtered(filter: &NodeFilter, readable: &Readable) -> Vec<Value> {
    let mut params = values![filter.channel.as_deref(), GLOBAL_CHANNEL];
    params.extend(wishes(&filter.types));
    params.extend(readable_params(readable));
    params
}

pub(crate) fn by_key(
    filter: &NodeFilter,
    readable: &Readable,
    key: &str,
    rows_max: usize,
) -> Vec<Value> {
    let mut params = filtered(filter, readable);
    params.extend(values![key, limit(rows_max)]);
    params
}

pub(crate) fn by_prefix(
    filter: &NodeFilter,
    readable: &Readable,
    key: &str,
    rows_max: usize,
) -> Vec<Value> {
    let mut params = filtered(filter, readable);
    params.extend(values![key, format!("{key}{}", char::MAX), limit(rows_max)]);
    params
}
