//! Looking for damage, for `doctor`. Reads only, and only what a user that owns nothing may see.

use deadpool_postgres::Pool;
use mnemic_core::Result;

use super::error::{pool_error, store_error};
use super::{PostgresEngine, SCHEMA};
use crate::{CheckDepth, Engine as _, Fields as _, Finding, Scope, Statement};

const INDEXES: &str = "
    SELECT c.relname::text FROM pg_index i
    JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND NOT (i.indisvalid AND i.indisready)";
const CONSTRAINTS: &str = "
    SELECT c.conname::text FROM pg_constraint c JOIN pg_namespace n ON n.oid = c.connamespace
    WHERE n.nspname = $1 AND NOT c.convalidated";
const PAGES: &str = "SELECT datname::text FROM pg_stat_database
    WHERE datname = current_database() AND checksum_failures > 0 AND $1::text IS NOT NULL";
const SIZE: &str = "
    SELECT coalesce(sum(pg_table_size(c.oid) + pg_indexes_size(c.oid)), 0)::bigint
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relkind = 'r'";

static WORKSPACES: Statement =
    Statement::system("check.workspaces", "SELECT w.id FROM workspaces w ORDER BY w.id");

/// What can be found must have its words listed, and nothing else may; a vector has its memory or
/// node.
static WORDS: Statement = Statement::workspace(
    "check.words",
    "SELECT count(*) AS rows FROM memories m
     LEFT JOIN word_documents d ON d.workspace_id = $1 AND d.item_id = m.id
     WHERE m.workspace_id = $1 AND m.deleted_at IS NULL AND d.item_id IS NULL",
);
static LISTED: Statement = Statement::workspace(
    "check.listed",
    "SELECT count(*) AS rows FROM word_documents d
     LEFT JOIN memories m ON m.workspace_id = $1 AND m.id = d.item_id
     WHERE d.workspace_id = $1 AND (m.id IS NULL OR m.deleted_at IS NOT NULL)",
);
static COUNTED: Statement = Statement::workspace(
    "check.counted",
    "SELECT count(*) AS rows FROM (
         SELECT count(*) AS documents, coalesce(sum(d.length), 0) AS length
         FROM word_documents d WHERE d.workspace_id = $1
     ) AS there LEFT JOIN word_statistics s ON s.workspace_id = $1
     WHERE there.documents <> coalesce(s.documents, 0) OR there.length <> coalesce(s.length, 0)",
);
static TERMS_COUNTED: Statement = Statement::workspace(
    "check.terms_counted",
    "SELECT count(*) AS rows FROM (
         SELECT counted.term FROM (
             SELECT p.term, 1 AS documents FROM word_postings p WHERE p.workspace_id = $1
             UNION ALL
             SELECT t.term, -t.documents FROM word_terms t WHERE t.workspace_id = $1
         ) AS counted
         GROUP BY counted.term HAVING sum(counted.documents) <> 0 OR max(counted.documents) <= 0
     ) AS wrong",
);
static VECTORS: Statement = Statement::workspace(
    "check.vectors",
    "SELECT count(*) AS rows FROM vectors v
     LEFT JOIN memories m ON m.workspace_id = $1 AND m.id = v.item_id
     LEFT JOIN nodes n ON n.workspace_id = $1 AND n.id = v.item_id
     WHERE v.workspace_id = $1 AND m.id IS NULL AND n.id IS NULL",
);

pub(super) static ALL: &[&Statement] =
    &[&WORKSPACES, &WORDS, &LISTED, &COUNTED, &TERMS_COUNTED, &VECTORS];

const AGREEMENTS: [(&str, &Statement, &str); 5] = [
    ("words", &WORDS, "memories are not found by words: update each to have it listed again"),
    ("words", &LISTED, "lists of words are left of what is gone: restore a backup, or report it"),
    ("words", &COUNTED, "statistics of words are wrong, which shifts ranks: report it"),
    ("words", &TERMS_COUNTED, "words are counted wrong, which shifts ranks: report it"),
    ("vectors", &VECTORS, "vectors are left of what is gone: restore a backup, or report it"),
];

/// Whether the lists and vectors agree with the memories, workspace by workspace.
pub(super) async fn agreement(engine: &PostgresEngine) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    if !has_words(&engine.pool).await? {
        return Ok(findings);
    }
    for row in engine.read(Scope::System, &WORKSPACES, vec![]).await? {
        let workspace = row.uuid("id")?;
        for (subject, statement, problem) in AGREEMENTS {
            let rows = engine.read(Scope::Workspace(workspace), statement, vec![]).await?;
            let wrong = rows.first().map_or(Ok(0), |row| row.int("rows"))?;
            if wrong > 0 {
                let detail = format!("in workspace {workspace}, {wrong} {problem}");
                findings.push(Finding { subject, detail });
            }
        }
    }
    Ok(findings)
}

/// The engine itself works on any schema; only the product's keeps words.
async fn has_words(pool: &Pool) -> Result<bool> {
    let client = pool.get().await.map_err(|error| pool_error(error).into_error())?;
    let sql = "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
               WHERE n.nspname = $1 AND c.relname = 'word_statistics'";
    let rows = client.query(sql, &[&SCHEMA]).await;
    Ok(!rows.map_err(|error| store_error("checking", error))?.is_empty())
}

pub(super) async fn check(pool: &Pool, depth: CheckDepth) -> Result<Vec<Finding>> {
    let looks: &[(&'static str, &str, &str)] = match depth {
        CheckDepth::Quick => &[("structure", INDEXES, "is not valid: rebuild it")],
        CheckDepth::Full => &[
            ("structure", INDEXES, "is not valid: rebuild it"),
            ("references", CONSTRAINTS, "was never validated"),
            ("pages", PAGES, "has pages with wrong checksums"),
        ],
    };
    let client = pool.get().await.map_err(|error| pool_error(error).into_error())?;
    let mut findings = Vec::new();
    for (subject, sql, problem) in looks {
        let rows = client.query(*sql, &[&SCHEMA]).await;
        for row in rows.map_err(|error| store_error("checking", error))? {
            let name: String = row.get(0);
            findings.push(Finding { subject, detail: format!("{name} {problem}") });
        }
    }
    Ok(findings)
}

pub(super) async fn size_bytes(pool: &Pool) -> Result<u64> {
    let client = pool.get().await.map_err(|error| pool_error(error).into_error())?;
    let row = client.query_one(SIZE, &[&SCHEMA]).await;
    let row = row.map_err(|error| store_error("measuring", error))?;
    Ok(u64::try_from(row.get::<_, i64>(0)).unwrap_or(0))
}
