//! The lists of words of a whole workspace, brought in line with its texts.
//!
//! A batch lists the words of the few records that it touched (see [`words`](super::words)).
//! After rows have come in by the thousand, without batches, this walks over all of them and
//! lists what is not listed yet, a lot at a time and several lots at once.

use std::sync::Arc;

use mnemic_core::{Error, Result};
use mnemic_recall::TextTerms;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::error::{pool_error, store_error};
use super::transfer::begin;
use super::words::findable;
use super::{PostgresEngine, words};
use crate::{Batch, Engine as _, Fields as _, Row, Scope, Statement, values};

/// Texts to a lot: its words are sorted before they go in, so more of them means that
/// neighbours in the lists are written together.
const LOT: i64 = 5_000;

macro_rules! behind {
    ($item:literal) => {
        concat!($item, ".id > $2")
    };
}

/// As `words.texts`, for all texts of the workspace behind `$2`. What can be found is the same
/// there and here.
static WALK: Statement = Statement::workspace(
    "words.walk",
    concat!(
        "SELECT f.id, f.kind, f.content, d.digest FROM (",
        findable!(behind),
        ") AS f LEFT JOIN word_documents d ON d.workspace_id = $1 AND d.item_id = f.id
         ORDER BY f.id LIMIT $3"
    ),
);

/// Lists whose text is gone.
static ORPHANS: Statement = Statement::workspace(
    "words.orphans",
    "SELECT d.item_id FROM word_documents d
     LEFT JOIN memories m ON m.workspace_id = $1 AND m.id = d.item_id AND m.deleted_at IS NULL
     LEFT JOIN turns t ON t.workspace_id = $1 AND t.id = d.item_id
     WHERE d.workspace_id = $1 AND m.id IS NULL AND t.id IS NULL LIMIT $2",
);

/// `_uuid` is PostgreSQL's own name for an array of UUIDs, and one that the scope's proof can read.
static PUT_MANY: Statement = Statement::workspace(
    "words.put_many",
    "INSERT INTO word_documents (workspace_id, item_id, kind, digest, length, terms)
     SELECT $1, unnest(CAST($2 AS _uuid)), unnest(CAST($3 AS _text)), unnest(CAST($4 AS _bytea)),
            unnest(CAST($5 AS _int4)), unnest(CAST($6 AS _jsonb))
     ON CONFLICT (workspace_id, item_id) DO UPDATE
     SET digest = excluded.digest, length = excluded.length, terms = excluded.terms",
);

static LIST_MANY: Statement = Statement::workspace(
    "words.list_many",
    "INSERT INTO word_postings (workspace_id, kind, term, item_id, frequency, length)
     SELECT $1, unnest(CAST($2 AS _text)), unnest(CAST($3 AS _text)), unnest(CAST($4 AS _uuid)),
            unnest(CAST($5 AS _int2)), unnest(CAST($6 AS _int4))
     ON CONFLICT (workspace_id, kind, term, item_id) DO UPDATE
     SET frequency = excluded.frequency, length = excluded.length",
);

/// Batches keep these up to date one by one; here they are counted anew.
static COUNT: Statement = Statement::workspace(
    "words.count",
    "INSERT INTO word_statistics (workspace_id, kind, documents, length)
     SELECT $1, d.kind, count(*), coalesce(sum(d.length), 0) FROM word_documents d
     WHERE d.workspace_id = $1 GROUP BY d.kind
     ON CONFLICT (workspace_id, kind) DO UPDATE
     SET documents = excluded.documents, length = excluded.length",
);

static CLEAR_TERMS: Statement =
    Statement::workspace("words.clear_terms", "DELETE FROM word_terms WHERE workspace_id = $1");

static COUNT_TERMS: Statement = Statement::workspace(
    "words.count_terms",
    "INSERT INTO word_terms (workspace_id, kind, term, documents)
     SELECT $1, p.kind, p.term, count(*) FROM word_postings p WHERE p.workspace_id = $1
     GROUP BY p.kind, p.term",
);

pub(super) static ALL: &[&Statement] =
    &[&WALK, &ORPHANS, &PUT_MANY, &LIST_MANY, &COUNT, &CLEAR_TERMS, &COUNT_TERMS];

/// Lists every text of the workspace that is not listed as it is, and says how many those were.
pub(super) async fn relist(
    engine: &PostgresEngine,
    scope: Scope,
    at_once: usize,
    tell: &(dyn Fn(u64) + Send + Sync),
) -> Result<u64> {
    drop_orphans(engine, scope).await?;
    let mut under_way: JoinSet<Result<u64>> = JoinSet::new();
    let (mut behind, mut listed) = (Uuid::nil(), 0);
    loop {
        let rows = engine.read(scope, &WALK, values![behind, LOT]).await?;
        let Some(last) = rows.last() else { break };
        behind = last.uuid("id")?;
        if under_way.len() >= at_once {
            listed += wait(&mut under_way).await?;
            tell(listed);
        }
        let lot = tokio::task::spawn_blocking(move || Lot::of(&rows));
        let (pool, workspace) = (engine.pool.clone(), scope);
        under_way.spawn(async move {
            let lot = lot.await.map_err(|e| Error::internal("a lot was lost").caused_by(e))??;
            write(&pool, workspace, Arc::new(lot)).await
        });
    }
    while !under_way.is_empty() {
        listed += wait(&mut under_way).await?;
        tell(listed);
    }
    let mut counted = Batch::new();
    counted.run(&COUNT, vec![]).run(&CLEAR_TERMS, vec![]).run(&COUNT_TERMS, vec![]);
    engine.write(scope, counted).await?;
    Ok(listed)
}

async fn wait(under_way: &mut JoinSet<Result<u64>>) -> Result<u64> {
    match under_way.join_next().await {
        None => Ok(0),
        Some(Ok(done)) => done,
        Some(Err(error)) => Err(Error::internal("listing was broken off").caused_by(error)),
    }
}

async fn drop_orphans(engine: &PostgresEngine, scope: Scope) -> Result<()> {
    loop {
        let orphans = engine.read(scope, &ORPHANS, values![LOT]).await?;
        if orphans.is_empty() {
            return Ok(());
        }
        let mut batch = Batch::new();
        for row in &orphans {
            let id = row.uuid("item_id")?;
            batch.run(&words::UNLIST, values![id]).run(&words::DROP, values![id]);
        }
        engine.write(scope, batch).await?;
    }
}

/// A kind of item, a term, an item that has it, how often, and how long the item is.
type Posting = (String, String, Uuid, i16, i32);

/// The words of many texts, column by column.
#[derive(Default)]
struct Lot {
    /// Those among them that are listed with other words.
    outdated: Vec<Uuid>,
    items: Vec<Uuid>,
    kinds: Vec<String>,
    digests: Vec<Vec<u8>>,
    lengths: Vec<i32>,
    terms: Vec<serde_json::Value>,
    postings: Vec<Posting>,
}

impl Lot {
    fn of(rows: &[Row]) -> Result<Self> {
        let mut lot = Self::default();
        for row in rows {
            let (id, text) = (row.uuid("id")?, row.text("content")?);
            let digest = Sha256::digest(text.as_bytes())[..].to_vec();
            match row.opt_bytes("digest")? {
                Some(listed) if *listed == digest => continue,
                Some(_) => lot.outdated.push(id),
                None => {}
            }
            let TextTerms { counts, length } = TextTerms::of(text);
            let length = i32::try_from(length).unwrap_or(i32::MAX);
            let names: Vec<_> = counts.iter().map(|(term, _)| term.as_str()).collect();
            let kind = row.string("kind")?;
            lot.items.push(id);
            lot.kinds.push(kind.clone());
            lot.digests.push(digest);
            lot.lengths.push(length);
            lot.terms.push(json!(names));
            let posting = |(term, count)| {
                (kind.clone(), term, id, i16::try_from(count).unwrap_or(i16::MAX), length)
            };
            lot.postings.extend(counts.into_iter().map(posting));
        }
        // In the order of the index, so that neighbours are written together; and so that
        // writers who are at it at once never wait for each other in a circle.
        lot.postings.sort_unstable();
        Ok(lot)
    }
}

async fn write(pool: &deadpool_postgres::Pool, scope: Scope, lot: Arc<Lot>) -> Result<u64> {
    let Scope::Workspace(workspace) = scope else { return Ok(0) };
    if lot.items.is_empty() {
        return Ok(0);
    }
    let failed = |error| store_error("listing words", error);
    let mut client = pool.get().await.map_err(|error| pool_error(error).into_error())?;
    let transaction = begin(&mut client, scope).await?;
    for id in &lot.outdated {
        transaction.execute(words::UNLIST.sql, &[&workspace, id]).await.map_err(failed)?;
    }
    let Lot { items, kinds, digests, lengths, terms, postings, .. } = &*lot;
    let put = transaction.prepare_cached(PUT_MANY.sql).await.map_err(failed)?;
    let params: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
        [&workspace, items, kinds, digests, lengths, terms];
    transaction.execute(&put, &params).await.map_err(failed)?;
    let list = transaction.prepare_cached(LIST_MANY.sql).await.map_err(failed)?;
    let kinds: Vec<_> = postings.iter().map(|posting| posting.0.as_str()).collect();
    let names: Vec<_> = postings.iter().map(|posting| posting.1.as_str()).collect();
    let ids: Vec<_> = postings.iter().map(|posting| posting.2).collect();
    let frequencies: Vec<_> = postings.iter().map(|posting| posting.3).collect();
    let lengths: Vec<_> = postings.iter().map(|posting| posting.4).collect();
    let params: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
        [&workspace, &kinds, &names, &ids, &frequencies, &lengths];
    transaction.execute(&list, &params).await.map_err(failed)?;
    transaction.commit().await.map_err(failed)?;
    Ok(lot.items.len() as u64)
}
