//! Strategies and their words.

use std::collections::BTreeMap;

use mnemic_core::Result;
use mnemic_core::ids::StrategyId;
use mnemic_core::recall::SearchFilter;
use mnemic_core::strategy::Strategy;
use mnemic_recall::TextTerms;

use super::access::{readable, readable_params};
use super::{exactly_one, limit, names};
use crate::{Fields, Row, Statement, Step, Value, values};

/// What the words of each text are worth.
const DESCRIPTION_WEIGHT: f64 = 1.0;
const CONTEXT_WEIGHT: f64 = 0.8;
const TERMS_MAX: usize = 300;

macro_rules! columns {
    () => {
        "id, key, channel, domain, description, context_pattern, tool_sequence, success_count, \
         failure_count, created_by, created_at, updated_at, last_used_at, deleted_at, revision"
    };
}

pub(crate) static LOOKUP: Statement = Statement::workspace(
    "strategy.lookup",
    concat!("SELECT ", columns!(), " FROM strategies WHERE workspace_id = $1 AND id = $2"),
);

pub(crate) static FIND: Statement = Statement::workspace(
    "strategy.find",
    concat!(
        "SELECT ",
        columns!(),
        " FROM strategies WHERE workspace_id = $1 AND key = $2 AND deleted_at IS NULL"
    ),
);

pub(crate) static BY_TOOLS: Statement = Statement::workspace(
    "strategy.by_tools",
    concat!(
        "SELECT ",
        columns!(),
        " FROM strategies
         WHERE workspace_id = $1 AND channel = $2 AND tool_sequence = $3 AND domain IS NULL
           AND deleted_at IS NULL ORDER BY id LIMIT $4"
    ),
);

static ADD: Statement = Statement::workspace(
    "strategy.add",
    concat!(
        "INSERT INTO strategies (workspace_id, ",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
         ON CONFLICT DO NOTHING"
    ),
);

static UPDATE: Statement = Statement::workspace(
    "strategy.update",
    "UPDATE strategies SET tool_sequence = $3, success_count = $4, failure_count = $5,
         updated_at = $6, last_used_at = $7, deleted_at = $8, revision = $9
     WHERE workspace_id = $1 AND id = $2 AND revision = $9 - 1",
);

static ERASE: Statement = Statement::workspace(
    "strategy.erase",
    "DELETE FROM strategies WHERE workspace_id = $1 AND id = $2",
);

static ADD_WORD: Statement = Statement::workspace(
    "strategy.add_word",
    "INSERT INTO strategy_words (workspace_id, term, strategy_id, weight) VALUES ($1, $2, $3, $4)",
);

static ERASE_WORDS: Statement = Statement::workspace(
    "strategy.erase_words",
    "DELETE FROM strategy_words WHERE workspace_id = $1 AND strategy_id = $2",
);

/// Of a word that too many have, the newest.
pub(crate) static BY_WORD: Statement = Statement::workspace(
    "strategy.by_word",
    concat!(
        "SELECT w.strategy_id, w.weight FROM strategy_words w
         JOIN strategies s ON s.workspace_id = $1 AND s.id = w.strategy_id
         WHERE w.workspace_id = $1 AND (s.channel IN ($2, $3) OR $2 IS NULL) AND ",
        readable!("s.domain", "$4", "$5"),
        " AND w.term = $6
         ORDER BY w.strategy_id DESC LIMIT $7"
    ),
);

/// What a search index is built of, in the columns that it is told of memories. Strategies are
/// found by words through `strategy_words`, so the index need not know those.
macro_rules! search_entries {
    () => {
        "SELECT s.id, '' AS content, '' AS kind, s.channel, s.domain, NULL AS topic,
                FALSE AS pinned, s.created_at, NULL AS valid_from, NULL AS valid_to,
                NULL AS superseded_at, v.code, NULL AS pieces
         FROM strategies s LEFT JOIN vectors v
           ON v.workspace_id = $1 AND v.item_id = s.id AND v.model = $2
         WHERE s.workspace_id = $1 AND s.deleted_at IS NULL"
    };
}

pub(crate) static SEARCH_ENTRIES: Statement =
    Statement::workspace("strategy.search_entries", search_entries!());

pub(crate) static SEARCH_ENTRY: Statement =
    Statement::workspace("strategy.search_entry", concat!(search_entries!(), " AND s.id = $3"));

pub(crate) static ALL: &[&Statement] = &[
    &LOOKUP,
    &FIND,
    &BY_TOOLS,
    &ADD,
    &UPDATE,
    &ERASE,
    &ADD_WORD,
    &ERASE_WORDS,
    &BY_WORD,
    &SEARCH_ENTRIES,
    &SEARCH_ENTRY,
];

pub(crate) fn by_tools(channel: &str, tools: &[String], rows_max: usize) -> Vec<Value> {
    values![channel, names(tools), limit(rows_max)]
}

/// A filter names at most one channel beside the global one.
pub(crate) fn by_word(filter: &SearchFilter, term: &str, rows_max: usize) -> Vec<Value> {
    let channels = filter.channels.as_deref().unwrap_or_default();
    let mut params = values![channels.first(), channels.last()];
    params.extend(readable_params(&filter.readable));
    params.extend(values![term, limit(rows_max)]);
    params
}

/// The same one that is there by now is a lost race.
pub(crate) fn add(new: &Strategy) -> Step {
    let params = values![
        new.id.0,
        new.key(),
        &new.channel,
        new.domain.as_deref(),
        &new.description,
        new.context_pattern.as_deref(),
        names(&new.tool_sequence),
        new.success_count,
        new.failure_count,
        &new.created_by,
        new.created_at,
        new.updated_at,
        new.last_used_at,
        new.deleted_at,
        new.revision,
    ];
    exactly_one(&ADD, params)
}

pub(crate) fn update(changed: &Strategy) -> Step {
    let params = values![
        changed.id.0,
        names(&changed.tool_sequence),
        changed.success_count,
        changed.failure_count,
        changed.updated_at,
        changed.last_used_at,
        changed.deleted_at,
        changed.revision,
    ];
    exactly_one(&UPDATE, params)
}

pub(crate) fn erase(id: StrategyId) -> Step {
    Step::new(&ERASE, values![id.0])
}

pub(crate) fn add_words(new: &Strategy) -> Vec<Step> {
    let words = words(new).into_iter();
    words.map(|(term, weight)| Step::new(&ADD_WORD, values![term, new.id.0, weight])).collect()
}

pub(crate) fn erase_words(id: StrategyId) -> Step {
    Step::new(&ERASE_WORDS, values![id.0])
}

/// The stems of a strategy's texts, each with the most that it is worth in any of them.
fn words(strategy: &Strategy) -> Vec<(String, f64)> {
    let mut words = BTreeMap::<String, f64>::new();
    let context = strategy.context_pattern.as_ref();
    let texts = [(&strategy.description, DESCRIPTION_WEIGHT)].into_iter();
    for (text, weight) in texts.chain(context.map(|text| (text, CONTEXT_WEIGHT))) {
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

pub(crate) fn from_row(row: &Row) -> Result<Strategy> {
    Ok(Strategy {
        id: StrategyId(row.uuid("id")?),
        channel: row.string("channel")?,
        domain: row.opt_string("domain")?,
        description: row.string("description")?,
        context_pattern: row.opt_string("context_pattern")?,
        tool_sequence: row.decode("tool_sequence")?,
        success_count: row.int("success_count")?,
        failure_count: row.int("failure_count")?,
        created_by: row.string("created_by")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        last_used_at: row.time("last_used_at")?,
        deleted_at: row.opt_time("deleted_at")?,
        revision: row.int("revision")?,
    })
}
