//! Looking for damage, for `doctor`. Reads only, and only what a user that owns nothing may see.

use deadpool_postgres::Pool;
use mnemic_core::Result;

use super::SCHEMA;
use super::error::{pool_error, store_error};
use crate::{CheckDepth, Finding};

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
