//! Search by words: inverted lists as rows, ranked in the database by the very formula of the
//! embedded index.
//!
//! A text search index of PostgreSQL would go unused here, because its operator may not run
//! before row-level security has spoken. A plain index over workspace and term may. Terms are
//! made by the embedded index's own analysis, so both engines find the same.

use std::collections::{BTreeMap, BTreeSet};

use mnemic_core::Result;
use mnemic_core::recall::{Hit, ItemKind, SearchFilter};
use mnemic_recall::{B, K1, TERMS_MAX, TextTerms};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::filter::{params, passes};
use super::session::{Call, Outcome};
use crate::{Batch, Fields, Row, Scope, Statement, Value, values};

/// What this engine keeps in tables and the embedded one in its index.
pub(super) const TABLES: [&str; 4] =
    ["word_documents", "word_postings", "word_statistics", "word_terms"];

/// Where nothing but what is superseded is left out, this many times as many as are wanted are
/// looked at first. Nearly always that is enough, and the others need no order.
const DEPTH: usize = 4;

/// The texts that can be found by their words: of memories `m`, or of turns `t`, of which `$which`
/// says which are meant.
macro_rules! findable {
    ($which:ident) => {
        concat!(
            "SELECT m.id, 'memory' AS kind, m.content FROM memories m
             WHERE m.workspace_id = $1 AND m.deleted_at IS NULL AND ",
            $which!("m"),
            " UNION ALL SELECT t.id, 'turn' AS kind, t.content FROM turns t
             WHERE t.workspace_id = $1 AND ",
            $which!("t")
        )
    };
}
pub(super) use findable;

macro_rules! listed {
    ($item:literal) => {
        concat!($item, ".id IN (SELECT CAST(jsonb_array_elements_text($2) AS uuid))")
    };
}

/// The texts of `$2` that can be found, each with the digest of the one whose words are listed.
/// If `$3`, also turns whose words are listed though they are gone, without a text: they may have
/// gone by the thousand, and nobody has named them.
static TEXTS: Statement = Statement::workspace(
    "words.texts",
    concat!(
        "SELECT f.id, f.kind, f.content, d.digest FROM (",
        findable!(listed),
        ") AS f LEFT JOIN word_documents d ON d.workspace_id = $1 AND d.item_id = f.id
         UNION ALL
         SELECT d.item_id AS id, d.kind, CAST(NULL AS text) AS content, d.digest
         FROM word_documents d LEFT JOIN turns t ON t.workspace_id = $1 AND t.id = d.item_id
         WHERE d.workspace_id = $1 AND d.kind = 'turn' AND t.id IS NULL AND CAST($3 AS boolean)"
    ),
);

pub(super) static UNLIST: Statement = Statement::workspace(
    "words.unlist",
    "DELETE FROM word_postings WHERE workspace_id = $1 AND item_id = $2
       AND kind = (SELECT d.kind FROM word_documents d
                   WHERE d.workspace_id = $1 AND d.item_id = $2)
       AND term IN (SELECT jsonb_array_elements_text(d.terms) FROM word_documents d
                    WHERE d.workspace_id = $1 AND d.item_id = $2)",
);

pub(super) static DROP: Statement = Statement::workspace(
    "words.drop",
    "DELETE FROM word_documents WHERE workspace_id = $1 AND item_id = $2",
);

/// As [`UNLIST`] and [`DROP`], for all of `$2`.
static UNLIST_ALL: Statement = Statement::workspace(
    "words.unlist_all",
    "DELETE FROM word_postings WHERE workspace_id = $1
       AND item_id IN (SELECT CAST(jsonb_array_elements_text($2) AS uuid))
       AND (kind, term) IN (
           SELECT d.kind, had.term
           FROM word_documents d CROSS JOIN LATERAL jsonb_array_elements_text(d.terms) AS had (term)
           WHERE d.workspace_id = $1
             AND d.item_id IN (SELECT CAST(jsonb_array_elements_text($2) AS uuid)))",
);

static DROP_ALL: Statement = Statement::workspace(
    "words.drop_all",
    "DELETE FROM word_documents WHERE workspace_id = $1
       AND item_id IN (SELECT CAST(jsonb_array_elements_text($2) AS uuid))",
);

static PUT: Statement = Statement::workspace(
    "words.put",
    "INSERT INTO word_documents (workspace_id, item_id, kind, digest, length, terms)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (workspace_id, item_id) DO UPDATE
     SET digest = excluded.digest, length = excluded.length, terms = excluded.terms",
);

/// What the documents of `$2` add to the statistics as they are now. Before they change, it is
/// taken away; afterwards it is added.
static TAKE: Statement = Statement::workspace(
    "words.take",
    "UPDATE word_statistics
     SET documents = documents - (
             SELECT count(*) FROM word_documents d
             WHERE d.workspace_id = $1 AND d.kind = word_statistics.kind
                AND d.item_id IN (SELECT CAST(jsonb_array_elements_text($2) AS uuid))),
         length = length - (
             SELECT coalesce(sum(d.length), 0) FROM word_documents d
             WHERE d.workspace_id = $1 AND d.kind = word_statistics.kind
                AND d.item_id IN (SELECT CAST(jsonb_array_elements_text($2) AS uuid)))
     WHERE workspace_id = $1",
);

static GIVE: Statement = Statement::workspace(
    "words.give",
    "INSERT INTO word_statistics (workspace_id, kind, documents, length)
     SELECT $1, d.kind, count(*), coalesce(sum(d.length), 0) FROM word_documents d
     WHERE d.workspace_id = $1
       AND d.item_id IN (SELECT CAST(jsonb_array_elements_text($2) AS uuid))
     GROUP BY d.kind
     ON CONFLICT (workspace_id, kind) DO UPDATE
     SET documents = word_statistics.documents + excluded.documents,
         length = word_statistics.length + excluded.length",
);

/// As [`TAKE`] and [`GIVE`], for how many documents have each term.
static TAKE_TERMS: Statement = Statement::workspace(
    "words.take_terms",
    "UPDATE word_terms SET documents = word_terms.documents - gone.documents
     FROM (SELECT d.kind, had.term, count(*) AS documents
           FROM word_documents d CROSS JOIN LATERAL jsonb_array_elements_text(d.terms) AS had (term)
           WHERE d.workspace_id = $1
             AND d.item_id IN (SELECT CAST(jsonb_array_elements_text($2) AS uuid))
           GROUP BY d.kind, had.term) AS gone
     WHERE word_terms.workspace_id = $1 AND word_terms.kind = gone.kind
       AND word_terms.term = gone.term",
);

/// A term that nobody has any more is a word of an erased text.
static FORGET_TERMS: Statement = Statement::workspace(
    "words.forget_terms",
    "DELETE FROM word_terms WHERE workspace_id = $1 AND documents <= 0
       AND term IN (SELECT jsonb_array_elements_text(d.terms) FROM word_documents d
                    WHERE d.workspace_id = $1
                      AND d.item_id IN (SELECT CAST(jsonb_array_elements_text($2) AS uuid)))",
);

static GIVE_TERMS: Statement = Statement::workspace(
    "words.give_terms",
    "INSERT INTO word_terms (workspace_id, kind, term, documents)
     SELECT $1, d.kind, has.term, count(*)
     FROM word_documents d CROSS JOIN LATERAL jsonb_array_elements_text(d.terms) AS has (term)
     WHERE d.workspace_id = $1
       AND d.item_id IN (SELECT CAST(jsonb_array_elements_text($2) AS uuid))
     GROUP BY d.kind, has.term
     ON CONFLICT (workspace_id, kind, term) DO UPDATE
     SET documents = word_terms.documents + excluded.documents",
);

/// `$4` has the terms and `$5`, in the same order, how often each occurs.
static LIST: Statement = Statement::workspace(
    "words.list",
    "INSERT INTO word_postings (workspace_id, item_id, kind, term, frequency, length)
     SELECT $1, $2, $3, jsonb_array_elements_text($4),
            CAST(jsonb_array_elements_text($5) AS smallint), $6",
);

/// Room for the scores of a great workspace's common words. Compiling the statement, or sharing it
/// out, would take longer than running it.
static SEARCH_SETTINGS: Statement = Statement::workspace(
    "words.search_settings",
    "SELECT set_config('work_mem', '32MB', true), set_config('jit', 'off', true),
            set_config('max_parallel_workers_per_gather', '0', true), CAST($1 AS uuid)",
);

/// Everything that has one of the terms is scored; the best `$17` are taken in order, and looked
/// at until `$12` have passed the filter, because a look at a memory costs more than its score.
/// Each row says how many postings there were.
///
/// Scores are summed as whole numbers, so that equal texts have equal scores in whatever order
/// their words are met; so fine that a word can count as often as one may and still fits. `$13` has the terms with how often each is asked for, `$14` is how many of the rarest count, `$15` and
/// `$16` are the constants of BM25. What a posting does not change is computed once for its term.
/// `OFFSET 0` keeps the planner to the index, whatever it believes of a term's postings.
macro_rules! search {
    ($kind:ident, $table:literal, $id:literal) => {
        Statement::workspace(concat!("words.search_", stringify!($kind)), concat!(
        "WITH held AS MATERIALIZED (
             SELECT t.term, t.documents, CAST(CAST($13 AS jsonb) ->> t.term AS integer) AS times
             FROM word_terms t
             WHERE t.workspace_id = $1 AND t.kind = '", stringify!($kind), "'
               AND t.term = ANY (ARRAY(SELECT jsonb_object_keys($13)))
             ORDER BY t.documents, t.term LIMIT $14
         ), totals AS MATERIALIZED (
             SELECT s.documents, greatest(
                        CAST(s.length AS double precision) / greatest(s.documents, 1), 1) AS length
             FROM word_statistics s
             WHERE s.workspace_id = $1 AND s.kind = '", stringify!($kind), "'
         ), asked AS MATERIALIZED (
             SELECT held.term, 131072 * held.times * (CAST($15 AS double precision) + 1) * ln(
                        1 + greatest(
                            totals.documents - held.documents + CAST(0.5 AS double precision), 0)
                        / (held.documents + 0.5)) AS weight,
                    $15 * (1 - CAST($16 AS double precision)) AS norm,
                    $15 * $16 / totals.length AS norm_by_length
             FROM held CROSS JOIN totals
         )
         SELECT ranked.item_id, ranked.score / CAST(131072 AS double precision) AS score,
                (SELECT CAST(sum(held.documents) AS bigint) FROM held) AS postings
         FROM (
             SELECT posting.item_id, sum(posting.score) AS score
             FROM asked CROSS JOIN LATERAL (
                 SELECT p.item_id, CAST(
                            asked.weight * p.frequency
                            / (p.frequency + asked.norm + asked.norm_by_length * p.length)
                        AS integer) AS score
                 FROM word_postings p
                 WHERE p.workspace_id = $1 AND p.kind = '", stringify!($kind), "'
                   AND p.term = asked.term OFFSET 0
             ) AS posting
             GROUP BY posting.item_id ORDER BY score DESC, posting.item_id DESC LIMIT $17
         ) AS ranked CROSS JOIN LATERAL (
             SELECT 1 FROM ", $table, " WHERE ", $id, " = ranked.item_id AND ",
            passes!($kind),
            " LIMIT 1
         ) AS passing
         ORDER BY ranked.score DESC, ranked.item_id DESC LIMIT $12"
        ))
    };
}

static SEARCH_MEMORIES: Statement = search!(memory, "memories m", "m.id");
static SEARCH_TURNS: Statement = search!(turn, "turns t", "t.id");

pub(super) static ALL: &[&Statement] = &[
    &TEXTS,
    &UNLIST,
    &DROP,
    &UNLIST_ALL,
    &DROP_ALL,
    &PUT,
    &TAKE,
    &GIVE,
    &TAKE_TERMS,
    &FORGET_TERMS,
    &GIVE_TERMS,
    &LIST,
    &SEARCH_SETTINGS,
    &SEARCH_MEMORIES,
    &SEARCH_TURNS,
];

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
        let touched = || batch.touched.iter().filter(|touched| has_words(touched.kind));
        let unnamed = touched().any(|touched| touched.id.is_none());
        let touched: BTreeSet<_> = touched().filter_map(|touched| touched.id).collect();
        if touched.is_empty() && !unnamed {
            return Ok(None);
        }
        let question = TEXTS.arguments(scope, values![id_list(&touched), unnamed])?;
        Ok(Some(Self { scope, touched, question }))
    }

    pub(super) fn question(&self) -> Call<'_> {
        Call { statement: &TEXTS, arguments: &self.question }
    }

    /// The statements that bring the lists in line with the texts as they are now.
    pub(super) fn changes(&self, texts: &Outcome) -> Result<Vec<Change>> {
        let mut gone = self.touched.clone();
        let (mut outdated, mut listed) = (BTreeSet::new(), BTreeSet::new());
        let mut changes = Vec::new();
        for row in &texts.rows {
            let id = row.uuid("id")?;
            let Some(text) = row.opt_text("content")? else {
                gone.insert(id);
                continue;
            };
            gone.remove(&id);
            let digest = Sha256::digest(text.as_bytes())[..].to_vec();
            match row.opt_bytes("digest")? {
                Some(before) if *before == digest => continue,
                Some(_) => {
                    outdated.insert(id);
                    changes.push(self.change(&UNLIST, values![id])?);
                }
                None => {}
            }
            listed.insert(id);
            let kind = row.text("kind")?;
            let TextTerms { counts, length } = TextTerms::of(text);
            let terms: Vec<_> = counts.iter().map(|(term, _)| term.as_str()).collect();
            let frequencies: Vec<_> = counts.iter().map(|(_, count)| count).collect();
            changes.push(self.change(&PUT, values![id, kind, digest, length, json!(terms)])?);
            let postings = values![id, kind, json!(terms), json!(frequencies), length];
            changes.push(self.change(&LIST, postings)?);
        }
        if !gone.is_empty() {
            outdated.extend(&gone);
            changes.push(self.change(&UNLIST_ALL, values![id_list(&gone)])?);
            changes.push(self.change(&DROP_ALL, values![id_list(&gone)])?);
        }
        let mut all = self.counts(&[&TAKE, &TAKE_TERMS, &FORGET_TERMS], &outdated)?;
        all.append(&mut changes);
        all.append(&mut self.counts(&[&GIVE, &GIVE_TERMS], &listed)?);
        Ok(all)
    }

    fn counts(
        &self,
        statements: &[&'static Statement],
        ids: &BTreeSet<Uuid>,
    ) -> Result<Vec<Change>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids = id_list(ids);
        statements.iter().map(|statement| self.change(statement, values![ids.clone()])).collect()
    }

    fn change(&self, statement: &'static Statement, params: Vec<Value>) -> Result<Change> {
        Ok((statement, statement.arguments(self.scope, params)?))
    }
}

/// A statement with the whole of its parameters.
type Change = (&'static Statement, Vec<Value>);

/// What is asked for.
pub(super) struct Asked<'a> {
    statement: &'static Statement,
    terms: BTreeMap<String, u32>,
    filter: &'a SearchFilter,
    limit: usize,
}

impl<'a> Asked<'a> {
    /// Nothing, where the query has no words, or the kind is not searched by them.
    pub(super) fn new(
        kind: ItemKind,
        query: &str,
        filter: &'a SearchFilter,
        limit: usize,
    ) -> Option<Self> {
        let statement = match kind {
            ItemKind::Memory => &SEARCH_MEMORIES,
            ItemKind::Turn => &SEARCH_TURNS,
            ItemKind::Node | ItemKind::Strategy | ItemKind::Intent => return None,
        };
        let terms: BTreeMap<_, _> = mnemic_recall::asked_terms(query).into_iter().collect();
        (!terms.is_empty()).then_some(Self { statement, terms, filter, limit })
    }

    /// How many of the best to look at first. A filter may pass over any number of them.
    pub(super) fn depth(&self) -> Option<usize> {
        let include_superseded = self.filter.include_superseded;
        let unfiltered =
            *self.filter == SearchFilter { include_superseded, ..SearchFilter::default() };
        unfiltered.then(|| self.limit.saturating_mul(DEPTH))
    }

    /// The settings and the search, to be run in one transaction; it looks at all that was found,
    /// or at no more than the best of them.
    pub(super) fn search(&self, depth: Option<usize>) -> [Question; 2] {
        let number = |number| i64::try_from(number).unwrap_or(i64::MAX);
        let further = values![
            number(self.limit),
            json!(self.terms),
            number(TERMS_MAX),
            K1,
            B,
            depth.map(number)
        ];
        [(&SEARCH_SETTINGS, vec![]), (self.statement, params(self.filter, further))]
    }

    /// Whether a search to this depth may have left out what it should have found.
    pub(super) fn is_short(&self, rows: &[Row], depth: usize) -> Result<bool> {
        let postings = rows.first().map(|row| row.int("postings")).transpose()?;
        let cut = postings.is_none_or(|all| usize::try_from(all).is_ok_and(|all| all > depth));
        Ok(cut && rows.len() < self.limit)
    }
}

/// Whether items of a kind are found by their words here.
fn has_words(kind: ItemKind) -> bool {
    matches!(kind, ItemKind::Memory | ItemKind::Turn)
}

/// A statement and its parameters, but for the scope.
pub(super) type Question = (&'static Statement, Vec<Value>);

#[expect(clippy::cast_possible_truncation, reason = "a score needs no more than an f32 holds")]
pub(super) fn hit(row: &Row) -> Result<Hit> {
    let score = row.float("score")? as f32;
    // A vector without direction has no cosine; it is as far from everything as can be.
    Ok(Hit { id: row.uuid("item_id")?, score: if score.is_nan() { 0.0 } else { score } })
}

pub(super) fn id_list<'a>(ids: impl IntoIterator<Item = &'a Uuid>) -> serde_json::Value {
    ids.into_iter().map(Uuid::to_string).collect::<Vec<_>>().into()
}
