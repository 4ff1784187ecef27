//! Search under row-level security uses its indexes and finds what an exact one finds.

use std::collections::BTreeSet;

use mnemic_core::recall::SearchFilter;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::super::value::Bound;
use super::super::{nearest, words};
use super::*;
use crate::Fields as _;

const MODEL: &str = "test@0/384";
const DIMENSIONS: u32 = 384;
/// Rows of each of the two workspaces.
const ROWS: usize = 1_500;
const QUERIES: usize = 20;

fn workspace(number: u128) -> Scope {
    Scope::Workspace(Uuid::from_u128(number))
}

/// Two workspaces with as many random vectors each, and words that few or many have.
async fn populated() -> PostgresEngine {
    let name = postgres().database("template1");
    let role = setup(&postgres().owner_url(&name), false).await.unwrap().role;
    for number in 1..=2 {
        let workspace = Uuid::from_u128(number);
        let sql = format!(
            "SET search_path = mnemic;
             INSERT INTO workspaces VALUES ('{workspace}', '{number}', '{{}}', 1, now(), now());
             INSERT INTO memories
             SELECT '{workspace}', gen_random_uuid(), 'memory', '_global', NULL, NULL, 'text', 1, 1,
                    NULL, '[]', '[]', NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, false, 'test',
                    now(), now(), NULL, 1
             FROM generate_series(1, {ROWS});
             INSERT INTO vectors
             SELECT workspace_id, id, '{MODEL}', '', ARRAY(
                 SELECT random() - 0.5 FROM generate_series(1, {DIMENSIONS}) WHERE id IS NOT NULL
             )::real[]::vector FROM memories WHERE workspace_id = '{workspace}';
             INSERT INTO word_documents
             SELECT workspace_id, id, '', 2, '[\"common\", \"rare\"]' FROM memories
             WHERE workspace_id = '{workspace}';
             INSERT INTO word_postings
             SELECT workspace_id, 'common', id, 1, 2 FROM memories
             WHERE workspace_id = '{workspace}';
             INSERT INTO word_postings
             SELECT workspace_id, 'filler' || word, id, 1, 2 FROM memories, generate_series(1, 40) word
             WHERE workspace_id = '{workspace}';
             INSERT INTO word_postings
             SELECT workspace_id, 'rare', id, 1, 2 FROM memories
             WHERE workspace_id = '{workspace}' LIMIT 3;
             ANALYZE;"
        );
        tokio::task::block_in_place(|| postgres().run(&name, &sql));
    }
    let url = postgres().url(&role, &name);
    PostgresEngine::open(&url, Options::default(), MIGRATIONS).await.unwrap()
}

async fn a_vector(engine: &PostgresEngine, number: usize) -> Vec<f32> {
    let client = engine.pool.get().await.unwrap();
    let sql =
        "SELECT setseed($1), ARRAY(SELECT (random() - 0.5)::real FROM generate_series(1, $2))";
    let seed = number as f64 / QUERIES as f64;
    let row = client.query_one(sql, &[&seed, &i32::try_from(DIMENSIONS).unwrap()]).await.unwrap();
    row.get(1)
}

/// How the database goes about a statement, with its scope and settings in force.
async fn plan(
    engine: &PostgresEngine,
    settings: Option<&'static Statement>,
    (statement, params): (&'static Statement, Vec<Value>),
) -> String {
    let client = engine.pool.get().await.unwrap();
    client.batch_execute("BEGIN").await.unwrap();
    let scope = format!("SELECT set_config('app.ws', '{}', true)", Uuid::from_u128(1));
    client.batch_execute(&scope).await.unwrap();
    if let Some(settings) = settings {
        client.query(settings.sql, &[&Uuid::from_u128(1)]).await.unwrap();
    }
    let arguments = statement.arguments(workspace(1), params).unwrap();
    let bound: Vec<_> = arguments.iter().map(Bound).collect();
    let params: Vec<_> = bound.iter().map(|it| it as &(dyn ToSql + Sync)).collect();
    let sql = format!("EXPLAIN (COSTS OFF) {}", statement.sql);
    let rows = client.query(&sql, &params).await.unwrap();
    client.batch_execute("ROLLBACK").await.unwrap();
    rows.iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn indexes_are_used_under_row_level_security() {
    let engine = populated().await;
    let filter = SearchFilter::default();
    let vector = a_vector(&engine, 1).await;
    let [(settings, _), walk] = nearest::walk(MODEL, &vector, &filter, 10).unwrap();
    let walked = plan(&engine, Some(settings), walk).await;
    assert!(walked.contains("Order By: ((vector)::halfvec(384)"), "{walked}");
    assert!(!walked.contains("Sort"), "{walked}");
    let found = plan(&engine, None, words::search("rare", &filter, 10).unwrap()).await;
    assert!(found.contains("word_postings_pkey"), "{found}");
    assert!(!found.contains("Seq Scan on word_postings"), "{found}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_walk_finds_what_a_scan_finds() {
    let engine = populated().await;
    let filter = SearchFilter::default();
    let (mut same, mut all) = (0, 0);
    for number in 0..QUERIES {
        let vector = a_vector(&engine, number).await;
        let walk = nearest::walk(MODEL, &vector, &filter, 10).unwrap();
        let walked = engine.nearest(workspace(1), walk).await.unwrap();
        let scan = nearest::scan(MODEL, &vector, &filter, 10);
        let scanned = engine.nearest(workspace(1), [scan]).await.unwrap();
        assert_eq!((walked.len(), scanned.len()), (10, 10));
        let walked: BTreeSet<_> = walked.iter().map(|hit| hit.id).collect();
        same += scanned.iter().filter(|hit| walked.contains(&hit.id)).count();
        all += scanned.len();
    }
    assert!(same * 100 >= all * 95, "{same} of {all}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_count_stops_where_it_has_decided() {
    let engine = populated().await;
    let (statement, params) = nearest::count(&SearchFilter::default());
    let rows = engine.read(workspace(1), statement, params).await.unwrap();
    assert_eq!(rows[0].int("rows").unwrap(), i64::try_from(ROWS).unwrap());
    let narrow = SearchFilter { channels: Some(vec!["none".to_owned()]), ..Default::default() };
    let (statement, params) = nearest::count(&narrow);
    let rows = engine.read(workspace(1), statement, params).await.unwrap();
    assert_eq!(rows[0].int("rows").unwrap(), 0);
}
