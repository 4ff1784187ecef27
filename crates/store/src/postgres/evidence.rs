//! What documents hold of a question's words, and which of them: read from the lists that
//! [`super::words`] keeps.

use std::collections::{BTreeSet, HashMap};

use mnemic_core::recall::{ItemKind, Occurrences, WordEvidence};
use mnemic_core::{Code, Error, Result};
use serde_json::json;
use uuid::Uuid;

use super::words::{Question, id_list};
use crate::{Fields, Row, Statement, values};

/// Those of the terms `$3` that the documents of `$4` have, of the kind `$2`.
static OCCURRENCES: Statement = Statement::workspace(
    "evidence.occurrences",
    "SELECT p.item_id, p.term, p.frequency FROM word_postings p
     WHERE p.workspace_id = $1 AND p.kind = $2
       AND p.term = ANY (ARRAY(SELECT jsonb_array_elements_text($3)))
       AND p.item_id = ANY (ARRAY(SELECT CAST(jsonb_array_elements_text($4) AS uuid)))",
);

static LENGTHS: Statement = Statement::workspace(
    "evidence.lengths",
    "SELECT d.item_id, d.length FROM word_documents d
     WHERE d.workspace_id = $1
       AND d.item_id = ANY (ARRAY(SELECT CAST(jsonb_array_elements_text($2) AS uuid)))",
);

/// How common the terms `$3` are among the documents of the kind `$2`; what all of them have in
/// common is in every row, and without any of the terms there is a row without one.
static COMMONNESS: Statement = Statement::workspace(
    "evidence.commonness",
    "SELECT s.documents AS documents_all, s.length AS length_all, t.term, t.documents
     FROM word_statistics s LEFT JOIN word_terms t
       ON t.workspace_id = $1 AND t.kind = $2
      AND t.term = ANY (ARRAY(SELECT jsonb_array_elements_text($3)))
     WHERE s.workspace_id = $1 AND s.kind = $2",
);

static TERMS: Statement = Statement::workspace(
    "evidence.terms",
    "SELECT d.item_id, d.terms FROM word_documents d
     WHERE d.workspace_id = $1
       AND d.item_id IN (SELECT CAST(jsonb_array_elements_text($2) AS uuid))",
);

pub(super) static ALL: &[&Statement] = &[&OCCURRENCES, &LENGTHS, &COMMONNESS, &TERMS];

/// The questions whose answers [`read`] reads, in its order.
pub(super) fn questions(kind: ItemKind, terms: &[String], ids: &[Uuid]) -> [Question; 3] {
    let (kind, terms) = (kind.as_str(), json!(terms));
    [
        (&COMMONNESS, values![kind, terms.clone()]),
        (&OCCURRENCES, values![kind, terms, id_list(ids)]),
        (&LENGTHS, values![id_list(ids)]),
    ]
}

/// What documents hold of the terms, in the order of the ids.
pub(super) fn read(terms: &[String], ids: &[Uuid], rows: &[Vec<Row>; 3]) -> Result<WordEvidence> {
    let [commonness, occurrences, lengths] = rows;
    let place = |term: &str| terms.iter().position(|asked| asked == term);
    let mut evidence = WordEvidence { held_by: vec![0; terms.len()], ..WordEvidence::default() };
    for row in commonness {
        evidence.documents = row.int("documents_all")?.max(0).cast_unsigned();
        let length = row.int("length_all")? as f64;
        evidence.average_length = length / evidence.documents.max(1) as f64;
        if let Some(place) = row.opt_text("term")?.and_then(place) {
            evidence.held_by[place] = row.int("documents")?.max(0).cast_unsigned();
        }
    }
    let items: HashMap<&Uuid, usize> = ids.iter().zip(0..).collect();
    let mut lengths_of = vec![0; ids.len()];
    for row in lengths {
        if let Some(item) = items.get(&row.uuid("item_id")?) {
            lengths_of[*item] = u32::try_from(row.int("length")?).unwrap_or(0);
        }
    }
    let mut counts = vec![0; terms.len() * ids.len()];
    for row in occurrences {
        let item = items.get(&row.uuid("item_id")?);
        if let (Some(item), Some(place)) = (item, place(row.text("term")?)) {
            counts[item * terms.len() + place] = u32::try_from(row.int("frequency")?).unwrap_or(0);
        }
    }
    evidence.items = Occurrences::new(terms.len(), counts, lengths_of);
    Ok(evidence)
}

pub(super) fn terms(ids: &[Uuid]) -> Question {
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
