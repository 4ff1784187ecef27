//! What sequences were about, and the words of it.

use std::collections::BTreeMap;

use mnemic_core::Result;
use mnemic_core::ids::IntentId;
use mnemic_core::sequence::Intent;
use mnemic_recall::TextTerms;

use super::{exactly_one, limit};
use crate::{Fields, Row, Statement, Step, Value, values};

pub(crate) static LOOKUP: Statement = Statement::workspace(
    "intent.lookup",
    "SELECT id, key, text, created_at FROM intents WHERE workspace_id = $1 AND id = $2",
);

pub(crate) static FIND: Statement = Statement::workspace(
    "intent.find",
    "SELECT id, key, text, created_at FROM intents WHERE workspace_id = $1 AND key = $2",
);

static ADD: Statement = Statement::workspace(
    "intent.add",
    "INSERT INTO intents (workspace_id, id, key, text, created_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT DO NOTHING",
);

static ADD_WORD: Statement = Statement::workspace(
    "intent.add_word",
    "INSERT INTO intent_words (workspace_id, term, intent_id, weight) VALUES ($1, $2, $3, $4)",
);

/// Of a word that too many have, the newest.
pub(crate) static BY_WORD: Statement = Statement::workspace(
    "intent.by_word",
    "SELECT intent_id, weight FROM intent_words WHERE workspace_id = $1 AND term = $2
     ORDER BY intent_id DESC LIMIT $3",
);

/// What a search index is built of, in the columns that it is told of memories. Words are found
/// through `intent_words`, so the index need not know those.
macro_rules! search_entries {
    () => {
        "SELECT i.id, '' AS content, '' AS kind, '_global' AS channel, NULL AS domain,
                NULL AS topic, FALSE AS pinned, i.created_at, NULL AS valid_from,
                NULL AS valid_to, NULL AS superseded_at, v.code, NULL AS pieces
         FROM intents i LEFT JOIN vectors v
           ON v.workspace_id = $1 AND v.item_id = i.id AND v.model = $2
         WHERE i.workspace_id = $1"
    };
}

pub(crate) static SEARCH_ENTRIES: Statement =
    Statement::workspace("intent.search_entries", search_entries!());

pub(crate) static SEARCH_ENTRY: Statement =
    Statement::workspace("intent.search_entry", concat!(search_entries!(), " AND i.id = $3"));

pub(crate) static ALL: &[&Statement] =
    &[&LOOKUP, &FIND, &ADD, &ADD_WORD, &BY_WORD, &SEARCH_ENTRIES, &SEARCH_ENTRY];

/// One of the same text that is there by now is a lost race.
pub(crate) fn add(new: &Intent) -> Vec<Step> {
    let params = values![new.id.0, &new.key, &new.text, new.created_at];
    let words = words(&new.text).into_iter();
    let words = words.map(|(term, weight)| Step::new(&ADD_WORD, values![term, new.id.0, weight]));
    std::iter::once(exactly_one(&ADD, params)).chain(words).collect()
}

pub(crate) fn by_word(term: &str, rows_max: usize) -> Vec<Value> {
    values![term, limit(rows_max)]
}

/// The stems of a text; one of a longer text is worth less.
fn words(text: &str) -> Vec<(String, f64)> {
    let terms = TextTerms::of(text);
    let weight = 1.0 / (1.0 + f64::from(terms.length).ln().max(0.0));
    let words: BTreeMap<_, _> = terms.counts.into_iter().map(|(term, _)| (term, weight)).collect();
    words.into_iter().collect()
}

pub(crate) fn from_row(row: &Row) -> Result<Intent> {
    Ok(Intent {
        id: IntentId(row.uuid("id")?),
        key: row.string("key")?,
        text: row.string("text")?,
        created_at: row.time("created_at")?,
    })
}
