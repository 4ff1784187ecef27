//! Nodes, their names and their words.

use std::collections::BTreeMap;

use mnemic_core::Result;
use mnemic_core::ids::NodeId;
use mnemic_core::memory::GLOBAL_CHANNEL;
use mnemic_core::node::{Node, Slice};
use mnemic_core::store::Bearer;
use mnemic_core::text::fold_name;
use mnemic_recall::TextTerms;

use super::{exactly_one, names, object, object_from};
use crate::{Expect, Fields, Row, Statement, Step, Value, values};

/// More terms than this say nothing about what a node is.
const TERMS_MAX: usize = 300;
/// How much a word counts where it stands.
const NAME_WEIGHT: f64 = 1.0;
const ALIAS_WEIGHT: f64 = 0.9;
const DESCRIPTION_WEIGHT: f64 = 0.5;

macro_rules! columns {
    () => {
        "id, type, name, name_key, aliases, channel, domain, description, properties, salience, \
         connection_id, first_seen, last_accessed, access_count, created_by, created_at, \
         updated_at, deleted_at, revision"
    };
}

pub(crate) static LOOKUP: Statement = Statement::workspace(
    "node.lookup",
    concat!("SELECT ", columns!(), " FROM nodes WHERE workspace_id = $1 AND id = $2"),
);

pub(crate) static FIND_NAME: Statement = Statement::workspace(
    "node.find_name",
    "SELECT node_id, channel, type, domain FROM node_aliases
     WHERE workspace_id = $1 AND channel = $2 AND type = $3 AND alias_key = $4
     ORDER BY domain",
);

pub(crate) static FIND_BEARERS: Statement = Statement::workspace(
    "node.find_bearers",
    "SELECT node_id, channel, type, domain FROM node_aliases
     WHERE workspace_id = $1 AND alias_key = $2 AND channel IN ($3, $4)
     ORDER BY node_id",
);

static ADD: Statement = Statement::workspace(
    "node.add",
    concat!(
        "INSERT INTO nodes (workspace_id, ",
        columns!(),
        ")
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
                 $19, $20)"
    ),
);

/// Counters are left alone: they are moved by their own statement and never set.
static UPDATE: Statement = Statement::workspace(
    "node.update",
    "UPDATE nodes SET type = $3, name = $4, name_key = $5, aliases = $6, channel = $7,
         domain = $8, description = $9, properties = $10, salience = $11, connection_id = $12,
         first_seen = $13, updated_at = $14, deleted_at = $15, revision = $16
     WHERE workspace_id = $1 AND id = $2 AND revision = $16 - 1",
);

pub(crate) static TOUCH: Statement = Statement::workspace(
    "node.touch",
    "UPDATE nodes SET access_count = access_count + 1, last_accessed = $3
     WHERE workspace_id = $1 AND id = $2",
);

static ERASE: Statement =
    Statement::workspace("node.erase", "DELETE FROM nodes WHERE workspace_id = $1 AND id = $2");

static ADD_NAME: Statement = Statement::workspace(
    "node.add_name",
    "INSERT INTO node_aliases (workspace_id, channel, type, domain, alias_key, alias, node_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (workspace_id, channel, type, alias_key, domain) DO NOTHING",
);

static ERASE_NAMES: Statement = Statement::workspace(
    "node.erase_names",
    "DELETE FROM node_aliases WHERE workspace_id = $1 AND node_id = $2",
);

static ADD_WORD: Statement = Statement::workspace(
    "node.add_word",
    "INSERT INTO node_words (workspace_id, term, node_id, weight) VALUES ($1, $2, $3, $4)",
);

static ERASE_WORDS: Statement = Statement::workspace(
    "node.erase_words",
    "DELETE FROM node_words WHERE workspace_id = $1 AND node_id = $2",
);

macro_rules! of_connection {
    () => {
        " IN (SELECT n.id FROM nodes n WHERE n.workspace_id = $1 AND n.connection_id = $2)"
    };
}

pub(crate) static COUNT_OF_CONNECTION: Statement = Statement::workspace(
    "node.count_of_connection",
    "SELECT count(*) AS rows FROM nodes WHERE workspace_id = $1 AND connection_id = $2",
);

pub(crate) static COUNT_EDGES_FROM_CONNECTION: Statement = Statement::workspace(
    "node.count_edges_from_connection",
    concat!(
        "SELECT count(*) AS rows FROM edges WHERE workspace_id = $1 AND source_id",
        of_connection!()
    ),
);

pub(crate) static COUNT_EDGES_TO_CONNECTION: Statement = Statement::workspace(
    "node.count_edges_to_connection",
    concat!(
        "SELECT count(*) AS rows FROM edges WHERE workspace_id = $1 AND target_id",
        of_connection!(),
        " AND source_id NOT",
        of_connection!()
    ),
);

pub(crate) static DOMAINS_OF_CONNECTION: Statement = Statement::workspace(
    "node.domains_of_connection",
    "SELECT DISTINCT domain FROM nodes
     WHERE workspace_id = $1 AND connection_id = $2 ORDER BY domain",
);

macro_rules! erase_of_connection {
    ($statement:ident, $name:literal, $table:literal, $column:literal) => {
        static $statement: Statement = Statement::workspace(
            $name,
            concat!(
                "DELETE FROM ",
                $table,
                " WHERE workspace_id = $1 AND ",
                $column,
                of_connection!()
            ),
        );
    };
}

erase_of_connection!(
    ERASE_CONNECTION_NAMES,
    "node.erase_connection_names",
    "node_aliases",
    "node_id"
);
erase_of_connection!(
    ERASE_CONNECTION_WORDS,
    "node.erase_connection_words",
    "node_words",
    "node_id"
);
erase_of_connection!(
    ERASE_CONNECTION_VECTORS,
    "node.erase_connection_vectors",
    "vectors",
    "item_id"
);
erase_of_connection!(
    ERASE_EDGES_FROM_CONNECTION,
    "node.erase_edges_from_connection",
    "edges",
    "source_id"
);
erase_of_connection!(
    ERASE_EDGES_TO_CONNECTION,
    "node.erase_edges_to_connection",
    "edges",
    "target_id"
);

static ERASE_CONNECTION: Statement = Statement::workspace(
    "node.erase_connection",
    "DELETE FROM nodes WHERE workspace_id = $1 AND connection_id = $2",
);

/// What a search index is built of, in the columns that it is told of memories. Nodes are found by
/// words through `node_words`, so the index need not know those.
macro_rules! search_entries {
    () => {
        "SELECT n.id, '' AS content, n.type AS kind, n.channel, n.domain, NULL AS topic,
                FALSE AS pinned, n.created_at, NULL AS valid_from, NULL AS valid_to,
                NULL AS superseded_at, v.code, NULL AS pieces
         FROM nodes n LEFT JOIN vectors v
           ON v.workspace_id = $1 AND v.item_id = n.id AND v.model = $2
         WHERE n.workspace_id = $1 AND n.deleted_at IS NULL"
    };
}

pub(crate) static SEARCH_ENTRIES: Statement =
    Statement::workspace("node.search_entries", search_entries!());

pub(crate) static SEARCH_ENTRY: Statement =
    Statement::workspace("node.search_entry", concat!(search_entries!(), " AND n.id = $3"));

pub(crate) static ALL: &[&Statement] = &[
    &SEARCH_ENTRIES,
    &SEARCH_ENTRY,
    &LOOKUP,
    &FIND_NAME,
    &FIND_BEARERS,
    &ADD,
    &UPDATE,
    &TOUCH,
    &ERASE,
    &ADD_NAME,
    &ERASE_NAMES,
    &ADD_WORD,
    &ERASE_WORDS,
    &COUNT_OF_CONNECTION,
    &COUNT_EDGES_FROM_CONNECTION,
    &COUNT_EDGES_TO_CONNECTION,
    &DOMAINS_OF_CONNECTION,
    &ERASE_CONNECTION_NAMES,
    &ERASE_CONNECTION_WORDS,
    &ERASE_CONNECTION_VECTORS,
    &ERASE_EDGES_FROM_CONNECTION,
    &ERASE_EDGES_TO_CONNECTION,
    &ERASE_CONNECTION,
];

pub(crate) fn bearers(channel: &str, key: &str) -> Vec<Value> {
    values![key, channel, GLOBAL_CHANNEL]
}

/// The values from `id` to `first_seen`, in the order in which both statements take them.
fn described(node: &Node) -> Vec<Value> {
    values![
        node.id.0,
        &node.node_type,
        &node.name,
        fold_name(&node.name),
        names(&node.aliases),
        &node.channel,
        node.domain.as_deref(),
        node.description.as_deref(),
        object(&node.properties),
        node.salience,
        node.connection_id.as_deref(),
        node.first_seen,
    ]
}

pub(crate) fn add(node: &Node) -> Step {
    let mut params = described(node);
    params.extend(values![
        node.last_accessed,
        node.access_count,
        &node.created_by,
        node.created_at,
        node.updated_at,
        node.deleted_at,
        node.revision,
    ]);
    Step::new(&ADD, params)
}

pub(crate) fn update(node: &Node) -> Step {
    let mut params = described(node);
    params.extend(values![node.updated_at, node.deleted_at, node.revision]);
    exactly_one(&UPDATE, params)
}

pub(crate) fn erase(id: NodeId) -> Step {
    exactly_one(&ERASE, values![id.0])
}

/// A name that another node took meanwhile is a lost race.
pub(crate) fn add_names(node: &Node) -> Vec<Step> {
    let step = |(key, name): (String, &str)| {
        let domain = node.domain.as_deref().unwrap_or_default();
        let params = values![&node.channel, &node.node_type, domain, key, name, node.id.0];
        exactly_one(&ADD_NAME, params)
    };
    node.name_keys().into_iter().map(step).collect()
}

pub(crate) fn erase_names(id: NodeId) -> Step {
    Step::new(&ERASE_NAMES, values![id.0])
}

pub(crate) fn add_words(node: &Node) -> Vec<Step> {
    let words = words(node).into_iter();
    words.map(|(term, weight)| Step::new(&ADD_WORD, values![term, node.id.0, weight])).collect()
}

pub(crate) fn erase_words(id: NodeId) -> Step {
    Step::new(&ERASE_WORDS, values![id.0])
}

pub(crate) fn erase_connection(connection_id: &str, slice: Slice) -> Vec<Step> {
    let parts = [
        (&ERASE_CONNECTION_NAMES, "node_names"),
        (&ERASE_CONNECTION_WORDS, "node_words"),
        (&ERASE_CONNECTION_VECTORS, "vectors"),
        (&ERASE_EDGES_FROM_CONNECTION, "edges"),
        (&ERASE_EDGES_TO_CONNECTION, "edges"),
    ];
    let part = |(statement, noun)| Step::new(statement, values![connection_id]).counted(noun);
    let mut steps: Vec<_> = parts.map(part).into();
    let nodes = Step::new(&ERASE_CONNECTION, values![connection_id])
        .expect(Expect::Rows(slice.nodes))
        .otherwise(mnemic_core::Code::Stale, "nodes of the connection changed meanwhile")
        .counted("nodes");
    steps.push(nodes);
    steps
}

/// The terms of a node, each with the weight of the best place that it stands in. A word of a
/// short text says more about it than one of many.
fn words(node: &Node) -> Vec<(String, f64)> {
    let mut words = BTreeMap::<String, f64>::new();
    let names = [(&node.name, NAME_WEIGHT)].into_iter();
    let names = names.chain(node.aliases.iter().map(|alias| (alias, ALIAS_WEIGHT)));
    let texts = names.chain(node.description.iter().map(|text| (text, DESCRIPTION_WEIGHT)));
    for (text, weight) in texts {
        let terms = TextTerms::of(text);
        let weight = weight / (1.0 + f64::from(terms.length).ln().max(0.0));
        for (term, _) in terms.counts {
            if words.len() < TERMS_MAX || words.contains_key(&term) {
                let best = words.entry(term).or_insert(weight);
                *best = best.max(weight);
            }
        }
    }
    words.into_iter().collect()
}

pub(crate) fn bearer_from_row(row: &Row) -> Result<Bearer> {
    Ok(Bearer {
        node_id: NodeId(row.uuid("node_id")?),
        channel: row.string("channel")?,
        node_type: row.string("type")?,
        domain: Some(row.string("domain")?).filter(|domain| !domain.is_empty()),
    })
}

pub(crate) fn from_row(row: &Row) -> Result<Node> {
    from_columns(row, 0)
}

/// A node whose columns, in the order in which they are kept, begin at `first`. By position: a
/// walk reads many rows of many columns.
pub(crate) fn from_columns(row: &Row, first: usize) -> Result<Node> {
    Ok(Node {
        id: NodeId(row.uuid(first)?),
        node_type: row.string(first + 1)?,
        name: row.string(first + 2)?,
        aliases: row.decode(first + 4)?,
        channel: row.string(first + 5)?,
        domain: row.opt_string(first + 6)?,
        description: row.opt_string(first + 7)?,
        properties: object_from(row.json(first + 8)?)?,
        salience: row.float(first + 9)?,
        connection_id: row.opt_string(first + 10)?,
        first_seen: row.time(first + 11)?,
        last_accessed: row.opt_time(first + 12)?,
        access_count: row.int(first + 13)?,
        created_by: row.string(first + 14)?,
        created_at: row.time(first + 15)?,
        updated_at: row.time(first + 16)?,
        deleted_at: row.opt_time(first + 17)?,
        revision: row.int(first + 18)?,
    })
}
