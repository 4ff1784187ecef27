//! Search under row-level security uses its indexes and finds what an exact one finds.

use std::fmt::Write as _;

use std::collections::BTreeSet;

use mnemic_core::embed::ModelStamp;
use mnemic_core::ids::NodeId;
use mnemic_core::memory::Kind;
use mnemic_core::recall::{ItemKind, SearchFilter, Sight};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::super::nearest::Asked;
use super::super::value::Bound;
use super::super::words;
use super::*;
use crate::SearchEngine as _;
use crate::statements::entity;

const MODEL: &str = "test@0/384";
const DIMENSIONS: u32 = 384;
/// Rows of each of the two workspaces.
const ROWS: usize = 1_500;
const QUERIES: usize = 20;

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
             SELECT workspace_id, id, '', 2, '[\"common\", \"rare\"]', 'memory' FROM memories
             WHERE workspace_id = '{workspace}';
             INSERT INTO word_statistics VALUES ('{workspace}', {ROWS}, 2 * {ROWS}, 'memory');
             INSERT INTO word_postings
             SELECT workspace_id, 'common', id, 1, 2, 'memory' FROM memories
             WHERE workspace_id = '{workspace}';
             INSERT INTO word_postings
             SELECT workspace_id, 'filler' || word, id, 1, 2, 'memory'
             FROM memories, generate_series(1, 40) word
             WHERE workspace_id = '{workspace}';
             INSERT INTO word_postings
             SELECT workspace_id, 'rare', id, 1, 2, 'memory' FROM memories
             WHERE workspace_id = '{workspace}' LIMIT 3;
             INSERT INTO word_terms
             SELECT workspace_id, term, count(*), 'memory' FROM word_postings
             WHERE workspace_id = '{workspace}' GROUP BY workspace_id, term;
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
    question: (&'static Statement, Vec<Value>),
) -> String {
    plan_in(engine, Uuid::from_u128(1), settings, question).await
}

pub(super) async fn plan_in(
    engine: &PostgresEngine,
    workspace: Uuid,
    settings: Option<&'static Statement>,
    (statement, params): (&'static Statement, Vec<Value>),
) -> String {
    let client = engine.pool.get().await.unwrap();
    client.batch_execute("BEGIN").await.unwrap();
    let scope = format!("SELECT set_config('app.ws', '{workspace}', true)");
    client.batch_execute(&scope).await.unwrap();
    if let Some(settings) = settings {
        client.query(settings.sql, &[&workspace]).await.unwrap();
    }
    let arguments = statement.arguments(Scope::Workspace(workspace), params).unwrap();
    let bound: Vec<_> = arguments.iter().map(Bound).collect();
    let params: Vec<_> = bound.iter().map(|it| it as &(dyn ToSql + Sync)).collect();
    let sql = format!("EXPLAIN (COSTS OFF) {}", statement.sql);
    let rows = client.query(&sql, &params).await.unwrap();
    client.batch_execute("ROLLBACK").await.unwrap();
    rows.iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>().join("\n")
}

/// As many nodes with names and vectors as there are memories, all of which are about the first
/// node; every node is joined to it.
async fn with_nodes(engine: &PostgresEngine) -> Uuid {
    let (workspace, first) = (Uuid::from_u128(1), Uuid::from_u128(7_000_001));
    let name = engine_database(engine).await;
    let sql = format!(
        "SET search_path = mnemic;
         INSERT INTO nodes
         SELECT '{workspace}', CAST(lpad(to_hex(7000000 + n), 32, '0') AS uuid), 'person',
                'node ' || n, 'node ' || n, '[]', '_global', NULL, NULL, '{{}}', 0.5, NULL, now(),
                NULL, 0, 'test', now(), now(), NULL, 1
         FROM generate_series(1, {ROWS}) n;
         INSERT INTO node_aliases
         SELECT workspace_id, channel, type, name_key, '', name, id FROM nodes;
         INSERT INTO vectors
         SELECT workspace_id, id, '{MODEL}', '', ARRAY(
             SELECT random() - 0.5 FROM generate_series(1, {DIMENSIONS}) WHERE id IS NOT NULL
         )::real[]::vector FROM nodes;
         INSERT INTO edges
         SELECT workspace_id, gen_random_uuid(), '_global', id, '{first}', 'ABOUT', '{{}}', NULL,
                NULL, now(), NULL, 1 FROM memories WHERE workspace_id = '{workspace}';
         INSERT INTO edges
         SELECT workspace_id, gen_random_uuid(), '_global', id, '{first}', 'KNOWS', '{{}}', NULL,
                NULL, now(), NULL, 1 FROM nodes WHERE id <> '{first}';
         ANALYZE;"
    );
    tokio::task::block_in_place(|| postgres().run(&name, &sql));
    first
}

async fn engine_database(engine: &PostgresEngine) -> String {
    let client = engine.pool.get().await.unwrap();
    client.query_one("SELECT CAST(current_database() AS text)", &[]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entities_are_found_by_indexes() {
    let engine = populated().await;
    let first = with_nodes(&engine).await;
    let filter = SearchFilter::default();
    let vector = a_vector(&engine, 1).await;
    let kind = ItemKind::Node;
    let asked = Asked { kind, model: MODEL, query: &vector, filter: &filter, limit: 10 };
    let [(settings, _), walk] = asked.walk().unwrap();
    let walked = plan(&engine, Some(settings), walk).await;
    assert!(walked.contains("Order By: ((vector)::halfvec(384)"), "{walked}");
    assert!(!walked.contains("Sort"), "{walked}");
    let (sight, node) = (Sight { filter: &filter, now: Timestamp::now() }, NodeId(first));
    let memory = Uuid::from_u128(5);
    let plans = [
        (
            plan(&engine, None, (&entity::NAMED, entity::named(&["node 5".to_owned()], &sight)))
                .await,
            vec!["node_aliases_by_key", "nodes_pkey"],
        ),
        (
            plan(&engine, None, (&entity::ABOUT, entity::about(node, &sight, 5))).await,
            vec!["edges_by_target", "memories_pkey"],
        ),
        (
            plan(&engine, None, (&entity::NEIGHBOURS, entity::neighbours(node, &sight, 10))).await,
            vec!["relation > 'ABOUT'", "edges_by_target"],
        ),
        (
            plan(&engine, None, (&entity::SUBJECTS, entity::subjects(memory, &sight))).await,
            vec!["Index"],
        ),
    ];
    for (plan, used) in plans {
        assert!(used.iter().all(|index| plan.contains(index)), "{used:?}: {plan}");
        for table in ["edges", "memories", "node_aliases"] {
            assert!(!plan.contains(&format!("Seq Scan on {table}")), "{plan}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn indexes_are_used_under_row_level_security() {
    let engine = populated().await;
    let filter = SearchFilter::default();
    let vector = a_vector(&engine, 1).await;
    let asked =
        Asked { kind: ItemKind::Memory, model: MODEL, query: &vector, filter: &filter, limit: 10 };
    let [(settings, _), walk] = asked.walk().unwrap();
    let walked = plan(&engine, Some(settings), walk).await;
    assert!(walked.contains("Order By: ((vector)::halfvec(384)"), "{walked}");
    assert!(!walked.contains("Sort"), "{walked}");
    let asked = words::Asked::new(ItemKind::Memory, "rare", &filter, 10).unwrap();
    for depth in [asked.depth(), None] {
        let [(settings, _), search] = asked.search(depth);
        let found = plan(&engine, Some(settings), search).await;
        assert!(found.contains("word_postings_pkey"), "{found}");
        assert!(found.contains("memories_pkey"), "{found}");
        assert!(!found.contains("Seq Scan on word_postings"), "{found}");
        assert!(!found.contains("Seq Scan on memories"), "{found}");
    }
}

/// Sizes that stand to this limit as 100 to 100,000 do to the limit of a server, more or less;
/// `cargo bench -p mnemic-store -- nearest` measures those.
const SCANNED_MAX: usize = 1_000;
const SIZES: [usize; 4] = [10, 100, 1_000, 5_000];
const OTHERS: usize = 7_500;

/// Workspaces of these sizes in one part of the vectors, around centres that all share. Every
/// tenth row is a fact, and one in a hundred has a channel of its own.
async fn crowded() -> (String, Vec<Uuid>) {
    let name = postgres().database("template1");
    let role = setup(&postgres().owner_url(&name), false).await.unwrap().role;
    let ids = tokio::task::block_in_place(|| {
        postgres().run(
            &name,
            "SELECT id FROM (SELECT CAST(lpad(to_hex(n), 32, '0') AS uuid) AS id
                             FROM generate_series(1, 500) n) AS ids
             WHERE satisfies_hash_partition('mnemic.vectors'::regclass, 16, 0, id) LIMIT 5",
        )
    });
    let ids: Vec<Uuid> = ids.lines().map(|id| id.parse().unwrap()).collect();
    let mut sql = format!(
        "SET search_path = mnemic;
         SELECT setseed(0.5);
         CREATE TEMPORARY TABLE centres AS
         SELECT n AS number, ARRAY(SELECT random() - 0.5 FROM generate_series(1, {DIMENSIONS})
                                   WHERE n > 0)::real[]::vector AS centre
         FROM generate_series(1, 100) n;
         DROP INDEX vectors_near_384;"
    );
    for (id, size) in ids.iter().zip(SIZES.into_iter().chain([OTHERS])) {
        write!(
            sql,
            "INSERT INTO workspaces VALUES ('{id}', '{id}', '{{}}', 1, now(), now());
             INSERT INTO memories
             SELECT '{id}', gen_random_uuid(), CASE WHEN n % 10 = 0 THEN 'fact' ELSE 'memory' END,
                    'c' || n % 100, NULL, NULL, 'text', 1, 1, NULL, '[]', '[]', NULL, NULL, NULL,
                    NULL, NULL, 0, NULL, 0, n % 10 < 3, 'test', now(), now(), NULL, 1
             FROM generate_series(1, {size}) n;
             INSERT INTO vectors
             SELECT workspace_id, id, '{MODEL}', '', centre + ARRAY(
                 SELECT 0.7 * (random() - 0.5) FROM generate_series(1, {DIMENSIONS})
                 WHERE id IS NOT NULL
             )::real[]::vector
             FROM memories JOIN centres ON number = 1 + abs(hashtext(id::text) % 100)
             WHERE workspace_id = '{id}';"
        )
        .unwrap();
    }
    sql += "CREATE INDEX vectors_near_384 ON vectors
                USING hnsw ((vector::halfvec(384)) halfvec_cosine_ops)
                WHERE vector_dims(vector) = 384;
            ANALYZE;";
    tokio::task::block_in_place(|| postgres().run(&name, &sql));
    (postgres().url(&role, &name), ids)
}

async fn opened_with(url: &str, scanned_max: usize, stamp: &ModelStamp) -> PostgresEngine {
    let options = Options { scanned_max, ..Options::default() };
    let engine = PostgresEngine::open(url, options, MIGRATIONS).await.unwrap();
    engine.use_model(stamp).await.unwrap();
    engine
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_nearest_are_found_in_workspaces_of_any_size_among_others() {
    let (url, ids) = crowded().await;
    let stamp = ModelStamp { name: "test".to_owned(), hash: "0".to_owned(), dimensions: 384 };
    let engine = opened_with(&url, SCANNED_MAX, &stamp).await;
    let exact = opened_with(&url, usize::MAX, &stamp).await;
    let channel = Some(vec!["c7".to_owned()]);
    let filters = [
        SearchFilter::default(),
        SearchFilter { pinned: Some(true), ..SearchFilter::default() },
        SearchFilter { kind: Some(Kind::Fact), ..SearchFilter::default() },
        SearchFilter { channels: channel, ..SearchFilter::default() },
    ];
    for (id, size) in ids.iter().zip(SIZES) {
        for filter in &filters {
            let (mut same, mut all) = (0, 0);
            for number in 0..QUERIES {
                let query = near_a_row(&engine, number).await;
                let scope = Scope::Workspace(*id);
                let found = engine
                    .search_vectors(scope, ItemKind::Memory, &stamp, &query, filter, 10)
                    .await
                    .unwrap();
                let truth = exact
                    .search_vectors(scope, ItemKind::Memory, &stamp, &query, filter, 10)
                    .await
                    .unwrap();
                assert_eq!(found.len(), truth.len(), "{size} {filter:?}");
                let found: BTreeSet<_> = found.iter().map(|hit| hit.id).collect();
                same += truth.iter().filter(|hit| found.contains(&hit.id)).count();
                all += truth.len();
            }
            assert!(same * 100 >= all * 95, "{same} of {all} among {size}, {filter:?}");
        }
    }
    let query = near_a_row(&engine, 1).await;
    let asked = Asked {
        kind: ItemKind::Memory,
        model: MODEL,
        query: &query,
        filter: &filters[0],
        limit: 10,
    };
    let walked = engine.last(Scope::Workspace(ids[3]), asked.walk().unwrap()).await.unwrap();
    assert_eq!(walked.len(), 10, "the graph itself finds enough");
    let scanned = plan_in(&engine, ids[1], None, asked.scan(SCANNED_MAX)).await;
    assert!(scanned.contains("memories_pkey"), "{scanned}");
    assert!(scanned.contains("vectors_0_pkey"), "{scanned}");
    assert!(!scanned.contains("Seq Scan"), "{scanned}");
}

/// A query in the neighbourhood of many rows, which is where real ones are.
async fn near_a_row(engine: &PostgresEngine, number: usize) -> Vec<f32> {
    let client = engine.pool.get().await.unwrap();
    let sql = "SELECT setseed(0.5), ARRAY(
                   SELECT (random() - 0.5)::real FROM generate_series(1, 384 * 100) n)";
    let centres: Vec<f32> = client.query_one(sql, &[]).await.unwrap().get(1);
    let noise = a_vector(engine, number).await;
    let centre = &centres[384 * number..384 * (number + 1)];
    centre.iter().zip(&noise).map(|(centre, noise)| centre + 0.7 * noise).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_no_graph_is_all_are_scanned() {
    let (url, ids) = crowded().await;
    let stamp = ModelStamp { name: "odd".to_owned(), hash: "0".to_owned(), dimensions: 3 };
    let engine = opened_with(&url, 10, &stamp).await;
    let sql = format!(
        "INSERT INTO mnemic.vectors SELECT workspace_id, item_id, '{}', '', '[1,0,0]'
         FROM mnemic.vectors WHERE workspace_id = '{}' LIMIT 100",
        stamp.key(),
        ids[2]
    );
    let name = url.rsplit('/').next().unwrap().to_owned();
    tokio::task::block_in_place(|| postgres().run(&name, &sql));
    let scope = Scope::Workspace(ids[2]);
    let filter = SearchFilter::default();
    let found = engine
        .search_vectors(scope, ItemKind::Memory, &stamp, &[1.0, 0.1, 0.0], &filter, 50)
        .await
        .unwrap();
    assert_eq!(found.len(), 50);
    assert!(found.iter().all(|hit| hit.score > 0.9));
}
