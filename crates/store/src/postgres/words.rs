//! Search by words: inverted lists as rows, ranked in the database by the very formula of the
//! embedded index.
//!
//! A text search index of PostgreSQL would go unused here, because its operator may not run
//! before row-level security has spoken. A plain index over workspace and term may. Terms are
//! made by the embedded index's own analysis, so both engines find the same.

use std::collections::BTreeSet;

use mnemic_core::recall::{Hit, SearchFilter};
use mnemic_core::{Code, Error, Result};
use mnemic_recall::{B, K1, TERMS_MAX, TextTerms};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::filter::{params, passes};
use super::session::{Call, Outcome};
use crate::statements::memory;
use crate::{Batch, Fields, Row, Scope, Statement, Value, values};

/// What this engine keeps in tables and the embedded one in its index.
pub(super) const TABLES: [&str; 3] = ["word_documents", "word_postings", "word_statistics"];

/// The texts of `$2` that can be found, each with the digest of the one whose words are listed.
static TEXTS: Statement = Statement::workspace(
    "words.texts",
    "SELECT m.id, m.content, d.digest FROM memories m
     LEFT JOIN word_documents d ON d.workspace_id = $1 AND d.item_id = m.id
     WHERE m.workspace_id = $1 AND m.deleted_at IS NULL
       AND m.id IN (SELECT CAST(jsonb_array_elements_text($2) AS uuid))",
);

pub(super) static UNLIST: Statement = Statement::workspace(
    "words.unlist",
    "DELETE FROM word_postings WHERE workspace_id = $1 AND item_id = $2
       AND term IN (SELECT jsonb_array_elements_text(d.terms) FROM word_documents d
                    WHERE d.workspace_id = $1 AND d.item_id = $2)",
);

pub(super) static DROP: Statement = Statement::workspace(
    "words.drop",
    "DELETE FROM word_documents WHERE workspace_id = $1 AND item_id = $2",
);

static PUT: Statement = Statement::workspace(
    "words.put",
    "INSERT INTO word_documents (workspace_id, item_id, digest, length, terms)
     VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (workspace_id, item_id) DO UPDATE
     SET digest = excluded.digest, length = excluded.length, terms = excluded.terms",
);

/// What the documents of `$2` add to the statistics as they are now. Before they change, it is
/// taken away; afterwards it is added.
static TAKE: Statement = Statement::workspace(
    "words.take",
    "UPDATE word_statistics
     SET documents = documents - (
             SELECT count(*) FROM word_documents d WHERE d.workspace_id = $1
                AND d.item_id IN (SELECT CAST(jsonb_array_elements_text($2) AS uuid))),
         length = length - (
             SELECT coalesce(sum(d.length), 0) FROM word_documents d WHERE d.workspace_id = $1
                AND d.item_id IN (SELECT CAST(jsonb_array_elements_text($2) AS uuid)))
     WHERE workspace_id = $1",
);

static GIVE: Statement = Statement::workspace(
    "words.give",
    "INSERT INTO word_statistics (workspace_id, documents, length)
     SELECT $1, count(*), coalesce(sum(d.length), 0) FROM word_documents d
     WHERE d.workspace_id = $1
       AND d.item_id IN (SELECT CAST(jsonb_array_elements_text($2) AS uuid))
     ON CONFLICT (workspace_id) DO UPDATE
     SET documents = word_statistics.documents + excluded.documents,
         length = word_statistics.length + excluded.length",
);

/// `$3` has the terms and `$4`, in the same order, how often each occurs.
static LIST: Statement = Statement::workspace(
    "words.list",
    "INSERT INTO word_postings (workspace_id, term, item_id, frequency, length)
     SELECT $1, jsonb_array_elements_text($3), $2,
            CAST(jsonb_array_elements_text($4) AS smallint), $5",
);

/// Scores are summed as whole numbers, so that equal texts have equal scores in whatever order
/// their words are met. `$13` has the terms, `$14` is how many of the rarest count, `$15` and
/// `$16` are the constants of BM25. The terms are given as arrays, too, because the planner then
/// goes by the index whatever it believes of their number.
static SEARCH: Statement = Statement::workspace(
    "words.search",
    concat!(
        "WITH held AS MATERIALIZED (
             SELECT p.term, count(*) AS documents FROM word_postings p
             WHERE p.workspace_id = $1
               AND p.term = ANY (ARRAY(SELECT jsonb_array_elements_text($13)))
             GROUP BY p.term ORDER BY documents, p.term LIMIT $14
         ), totals AS MATERIALIZED (
             SELECT s.documents, greatest(
                        CAST(s.length AS double precision) / greatest(s.documents, 1), 1) AS length
             FROM word_statistics s WHERE s.workspace_id = $1
         ), asked AS MATERIALIZED (
             SELECT held.term, totals.length,
                    ln(1 + greatest(totals.documents - held.documents + CAST(0.5 AS double precision), 0)
                           / (held.documents + 0.5)) AS weight
             FROM held CROSS JOIN totals
         )
         SELECT p.item_id, sum(CAST(floor(
                    1048576 * asked.weight * p.frequency * (CAST($15 AS double precision) + 1)
                    / (p.frequency + $15 * (1 - CAST($16 AS double precision)
                                            + $16 * p.length / asked.length))
                ) AS bigint)) / CAST(1048576 AS double precision) AS score
         FROM asked JOIN word_postings p ON p.workspace_id = $1 AND p.term = asked.term
              AND p.term = ANY (ARRAY(SELECT asked.term FROM asked))
         JOIN memories m ON m.workspace_id = $1 AND m.id = p.item_id
         WHERE ",
        passes!(),
        " GROUP BY p.item_id ORDER BY score DESC, p.item_id DESC LIMIT $12"
    ),
);

static TERMS: Statement = Statement::workspace(
    "words.terms",
    "SELECT d.item_id, d.terms FROM word_documents d
     WHERE d.workspace_id = $1
       AND d.item_id IN (SELECT CAST(jsonb_array_elements_text($2) AS uuid))",
);

pub(super) static ALL: &[&Statement] =
    &[&TEXTS, &UNLIST, &DROP, &PUT, &TAKE, &GIVE, &LIST, &SEARCH, &TERMS];

/// What a batch has to do to the lists, in two steps: ask for the texts it touched, then bring
/// the lists in line with the answer.
pub(super) struct Follow {
    scope: Scope,
    touched: BTreeSet<Uuid>,
    question: Vec<Value>,
}

impl Follow {
    /// Nothing, where the batch touches nothing that is searched.
    pub(super) fn new(scope: Scope, batch: &Batch) -> Result<Option<Self>> {
        let touched = batch.touched.iter().filter(|touched| touched.kind == memory::KIND);
        let touched: BTreeSet<_> = touched.map(|touched| touched.id).collect();
        if touched.is_empty() {
            return Ok(None);
        }
        let question = TEXTS.arguments(scope, values![id_list(&touched)])?;
        Ok(Some(Self { scope, touched, question }))
    }

    pub(super) fn question(&self) -> Call<'_> {
        Call { statement: &TEXTS, arguments: &self.question }
    }

    /// The statements that bring the lists in line with the texts as they are now.
    pub(super) fn changes(&self, texts: &Outcome) -> Result<Vec<(&'static Statement, Vec<Value>)>> {
        let mut gone = self.touched.clone();
        let mut changed = BTreeSet::new();
        let mut changes = Vec::new();
        let mut change = |statement: &'static Statement, params| -> Result<()> {
            changes.push((statement, statement.arguments(self.scope, params)?));
            Ok(())
        };
        for row in &texts.rows {
            let id = row.uuid("id")?;
            gone.remove(&id);
            let text = row.text("content")?;
            let digest = Sha256::digest(text.as_bytes())[..].to_vec();
            if row.opt_bytes("digest")? == Some(&digest) {
                continue;
            }
            changed.insert(id);
            change(&UNLIST, values![id])?;
            let TextTerms { counts, length } = TextTerms::of(text);
            let terms: Vec<_> = counts.iter().map(|(term, _)| term.as_str()).collect();
            let frequencies: Vec<_> = counts.iter().map(|(_, count)| count).collect();
            change(&PUT, values![id, digest, length, json!(terms)])?;
            change(&LIST, values![id, json!(terms), json!(frequencies), length])?;
        }
        for id in gone {
            changed.insert(id);
            change(&UNLIST, values![id])?;
            change(&DROP, values![id])?;
        }
        if !changed.is_empty() {
            let ids = values![id_list(&changed)];
            changes.insert(0, (&TAKE, TAKE.arguments(self.scope, ids.clone())?));
            changes.push((&GIVE, GIVE.arguments(self.scope, ids)?));
        }
        Ok(changes)
    }
}

/// The statement and parameters of a search; nothing, where the query has no words.
pub(super) fn search(
    query: &str,
    filter: &SearchFilter,
    limit: usize,
) -> Option<(&'static Statement, Vec<Value>)> {
    let terms = mnemic_recall::query_terms(query);
    if terms.is_empty() {
        return None;
    }
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let terms_max = i64::try_from(TERMS_MAX).unwrap_or(i64::MAX);
    Some((&SEARCH, params(filter, values![limit, json!(terms), terms_max, K1, B])))
}

pub(super) fn terms(ids: &[Uuid]) -> (&'static Statement, Vec<Value>) {
    (&TERMS, values![id_list(ids)])
}

/// Which of the query's words each record has, as the query spells them.
pub(super) fn matched(query: &str, ids: &[Uuid], rows: &[Row]) -> Result<Vec<Vec<String>>> {
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let terms: BTreeSet<String> = serde_json::from_value(row.json("terms")?)
            .map_err(|e| Error::new(Code::Corrupt, "a list of words is damaged").caused_by(e))?;
        found.push((row.uuid("item_id")?, terms));
    }
    let of = |id: &Uuid| {
        let terms = found.iter().find(|(item, _)| item == id);
        terms.map_or_else(Vec::new, |(_, terms)| {
            mnemic_recall::matched_words(query, |term| terms.contains(term))
        })
    };
    Ok(ids.iter().map(of).collect())
}

#[expect(clippy::cast_possible_truncation, reason = "a score needs no more than an f32 holds")]
pub(super) fn hit(row: &Row) -> Result<Hit> {
    let score = row.float("score")? as f32;
    // A vector without direction has no cosine; it is as far from everything as can be.
    Ok(Hit { id: row.uuid("item_id")?, score: if score.is_nan() { 0.0 } else { score } })
}

fn id_list<'a>(ids: impl IntoIterator<Item = &'a Uuid>) -> serde_json::Value {
    ids.into_iter().map(Uuid::to_string).collect::<Vec<_>>().into()
}
