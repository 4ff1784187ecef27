//! Workspaces are kept apart by the database itself, whatever a statement forgets and however a
//! request ends.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use mnemic_core::{Code, Kind};
use mnemic_recall::synthetic::Noise;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::*;
use crate::{Expect, Fields as _, Step, values};

const ONE: Scope = Scope::Workspace(Uuid::from_u128(1));
const TWO: Scope = Scope::Workspace(Uuid::from_u128(2));
const REQUESTS: u32 = 1_000;

static ADD_WORKSPACE: Statement = Statement::system(
    "test.add_workspace",
    "INSERT INTO workspaces (id, name, settings, revision, created_at, updated_at)
     VALUES ($1, $2, '{}', 1, now(), now())",
);
static ADD: Statement = Statement::workspace(
    "test.add",
    "INSERT INTO runs (workspace_id, run_id, finished_at) VALUES ($1, $2, now())",
);
static COUNT: Statement =
    Statement::workspace("test.count", "SELECT count(*) AS rows FROM runs WHERE workspace_id = $1");

/// Statements that forget the workspace, on purpose.
static EVERYBODYS: Statement = Statement::workspace(
    "test.everybodys",
    "SELECT run_id FROM runs WHERE CAST($1 AS uuid) IS NOT NULL",
);
static EVERYBODYS_NAME: Statement = Statement::workspace(
    "test.everybodys_name",
    "SELECT name FROM workspaces WHERE CAST($1 AS uuid) IS NOT NULL",
);
static CHANGE_ALL: Statement = Statement::workspace(
    "test.change_all",
    "UPDATE runs SET outcome = 'stolen' WHERE CAST($1 AS uuid) IS NOT NULL RETURNING run_id",
);
static DELETE_ALL: Statement = Statement::workspace(
    "test.delete_all",
    "DELETE FROM runs WHERE CAST($1 AS uuid) IS NOT NULL RETURNING run_id",
);
static ADD_ELSEWHERE: Statement = Statement::workspace(
    "test.add_elsewhere",
    "INSERT INTO runs (workspace_id, run_id, finished_at)
     SELECT CAST($2 AS uuid), 'planted', now() WHERE CAST($1 AS uuid) IS NOT NULL",
);
static SYSTEM_READS: Statement =
    Statement::system("test.system_reads", "SELECT run_id FROM runs WHERE run_id <> $1");
static SLOW: Statement = Statement::workspace(
    "test.slow",
    "SELECT CAST(pg_sleep(0.002) AS text) FROM runs WHERE workspace_id = $1",
);

async fn populated(options: Options) -> PostgresEngine {
    populated_at(&database(MIGRATIONS), options).await
}

async fn populated_at(url: &str, options: Options) -> PostgresEngine {
    let engine = PostgresEngine::open(url, options, MIGRATIONS).await.unwrap();
    for (number, scope) in [(1, ONE), (2, TWO)] {
        let new = values![Uuid::from_u128(number), number.to_string()];
        engine.write(Scope::System, Step::new(&ADD_WORKSPACE, new).into()).await.unwrap();
        let run = Step::new(&ADD, values![format!("of {number}")]);
        engine.write(scope, run.into()).await.unwrap();
    }
    engine
}

async fn runs(engine: &PostgresEngine, scope: Scope) -> Vec<String> {
    let rows = engine.read(scope, &EVERYBODYS, vec![]).await.unwrap();
    rows.iter().map(|row| row.string("run_id").unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_that_forgets_the_workspace_meets_nothing_foreign() {
    let engine = populated(Options::default()).await;
    assert_eq!(runs(&engine, ONE).await, ["of 1"]);
    assert_eq!(engine.read(ONE, &EVERYBODYS_NAME, vec![]).await.unwrap().len(), 1);
    assert!(engine.read(Scope::System, &SYSTEM_READS, values![""]).await.unwrap().is_empty());
    for statement in [&CHANGE_ALL, &DELETE_ALL] {
        let hit = engine.write(ONE, Step::new(statement, vec![]).into()).await.unwrap();
        assert_eq!(hit[0].len(), 1, "{}", statement.name);
    }
    let planted = Step::new(&ADD_ELSEWHERE, values![Uuid::from_u128(2)]);
    let refused = engine.write(ONE, planted.into()).await.unwrap_err();
    assert_eq!(refused.code(), Code::Internal);
    assert_eq!(runs(&engine, TWO).await, ["of 2"]);
}

/// A row of every table for a workspace, as the owner puts it there.
fn fill_all(name: &str, number: u128) {
    let ws = Uuid::from_u128(number);
    let at = "'2026-01-01T00:00:00Z'";
    let sql = format!(
        "SET search_path = mnemic;
         INSERT INTO tokens VALUES (gen_random_uuid(), '{ws}', '\\x0{number}', 'p', 'admin', NULL,
             NULL, false, NULL, {at}, NULL);
         INSERT INTO memories
         SELECT '{ws}', gen_random_uuid(), 'memory', '_global', NULL, NULL, 'text of {number}', 1, 1,
                NULL, '[]', '[]', NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, false, 'test', {at}, {at},
                NULL, 1;
         INSERT INTO vectors SELECT workspace_id, id, 'm', '', '[1,2,3]' FROM memories
             WHERE workspace_id = '{ws}';
         INSERT INTO edges SELECT '{ws}', gen_random_uuid(), '_global', id, id, 'r', '{{}}', NULL,
             NULL, {at}, NULL FROM memories WHERE workspace_id = '{ws}';
         INSERT INTO citations SELECT '{ws}', 'run', id FROM memories WHERE workspace_id = '{ws}';
         INSERT INTO answers VALUES ('{ws}', 'key', 'f', '{{}}', {at});
         INSERT INTO secrets VALUES ('{ws}', 'model_key', 'openai', 'id', '\\x01', {at});
         INSERT INTO sightings SELECT '{ws}', id, 'c' FROM memories WHERE workspace_id = '{ws}';
         INSERT INTO reviews SELECT '{ws}', gen_random_uuid(), 't', id, id, {at}, NULL, NULL, 1
             FROM memories WHERE workspace_id = '{ws}';
         INSERT INTO domains VALUES ('{ws}', 'd', NULL, 'test', {at});
         INSERT INTO policies VALUES ('{ws}', gen_random_uuid(), 'rule', 'd', '[]', NULL, true,
             'test', {at}, {at}, 1);
         INSERT INTO patterns VALUES ('{ws}', gen_random_uuid(), 'a', 'n', 'e', 5, 5, 5, 5, 'text',
             NULL, NULL, false, NULL, {at}, {at}, {at}, NULL, 1, NULL, NULL, NULL);
         INSERT INTO showings SELECT '{ws}', gen_random_uuid(), id, 'a', 'n', 'e', 's', false, {at},
             NULL, NULL, NULL FROM patterns WHERE workspace_id = '{ws}';
         INSERT INTO minings VALUES ('{ws}', 'patterns', 1);
         INSERT INTO jobs VALUES ('{ws}', 'j', 1, NULL, NULL, NULL, NULL, 0, NULL, 0);
         INSERT INTO audit VALUES ('{ws}', gen_random_uuid(), {at}, 'o', gen_random_uuid(), 'r',
             NULL, NULL, NULL, NULL, NULL, '[]', NULL, NULL, '[]', 0, 0, NULL, NULL);
         INSERT INTO word_documents SELECT '{ws}', id, '', 1, '[]', 'memory' FROM memories
             WHERE workspace_id = '{ws}';
         INSERT INTO nodes VALUES ('{ws}', gen_random_uuid(), 't', 'n', 'n', '[]', '_global', NULL,
             NULL, '{{}}', 1, NULL, {at}, NULL, 0, 'test', {at}, {at}, NULL, 1);
         INSERT INTO node_aliases SELECT '{ws}', channel, type, name_key, '', name, id FROM nodes
             WHERE workspace_id = '{ws}';
         INSERT INTO node_words SELECT '{ws}', name_key, id, 1 FROM nodes
             WHERE workspace_id = '{ws}';
         INSERT INTO owners SELECT '{ws}', id, 'ana' FROM nodes WHERE workspace_id = '{ws}';
         INSERT INTO tombstones VALUES ('{ws}', 'memory', '\\x01', {at}, gen_random_uuid());
         INSERT INTO conversations VALUES ('{ws}', 'c', gen_random_uuid(), '_global', NULL, '{{}}', 1,
             1, 'test', {at}, {at}, NULL, 1);
         INSERT INTO turns VALUES ('{ws}', gen_random_uuid(), 'c', '_global', 0, 'user', NULL, 'text',
             'hash', {at}, NULL, NULL, '{{}}', 'test', {at});
         INSERT INTO episodes VALUES ('{ws}', gen_random_uuid(), 'c', '_global', 'text', 'extractive', 2,
             '[]', {at}, {at}, {at}, NULL, 1);
         INSERT INTO goals VALUES ('{ws}', gen_random_uuid(), '_global', NULL, 'text', 'active', 0,
             NULL, NULL, 'test', {at}, {at}, NULL, 1);
         INSERT INTO strategies VALUES ('{ws}', gen_random_uuid(), 'key', '_global', NULL, 'text', NULL,
             '[]', 1, 0, 'test', {at}, {at}, {at}, NULL, 1);
         INSERT INTO strategy_words SELECT '{ws}', 'term', id, 1 FROM strategies
             WHERE workspace_id = '{ws}';
         INSERT INTO tool_invocations VALUES ('{ws}', gen_random_uuid(), 'tool', true, NULL, NULL,
             NULL, NULL, NULL, 'test', {at});
         INSERT INTO tools VALUES ('{ws}', 'tool', 1, 1, 0, 0, {at});
         INSERT INTO profiles VALUES ('{ws}', 'ana', gen_random_uuid(), '{{}}', '[]', '{{}}', '{{}}',
             {at}, {at}, 1);
         INSERT INTO scratchpads VALUES ('{ws}', 'agent', gen_random_uuid(), 'text', {at}, {at}, 1);
         INSERT INTO timeline SELECT '{ws}', {at}, id, 'learned', channel FROM memories
             WHERE workspace_id = '{ws}';
         INSERT INTO actions VALUES ('{ws}', gen_random_uuid(), 's', 'agent', 'type', NULL, '[]',
             'success', NULL, NULL, {at}, {at}, NULL);
         INSERT INTO action_nodes SELECT '{ws}', id, id FROM actions WHERE workspace_id = '{ws}';
         INSERT INTO sequences SELECT '{ws}', id, 's', 'agent', {at}, {at}, id, 1, 'success', NULL,
             NULL, NULL, 1 FROM actions WHERE workspace_id = '{ws}';
         INSERT INTO sequence_keys SELECT '{ws}', id, 'type', '', '' FROM sequences
             WHERE workspace_id = '{ws}';
         INSERT INTO intents VALUES ('{ws}', gen_random_uuid(), 'key', 'text', {at});
         INSERT INTO intent_words SELECT '{ws}', 'term', id, 1 FROM intents
             WHERE workspace_id = '{ws}';
         INSERT INTO action_counts VALUES ('{ws}', 'type', '', 1, 1);
         INSERT INTO key_counts VALUES ('{ws}', 'type', '', '', 1, 1, {at});
         INSERT INTO unmined VALUES ('{ws}', 'type', '', 1);
         INSERT INTO metrics VALUES ('{ws}', gen_random_uuid(), 'key', 'Key', false, '{{}}', NULL,
             'rate', 7, NULL, true, 'test', {at}, {at}, 1);
         INSERT INTO benchmarks SELECT '{ws}', gen_random_uuid(), id, 1, NULL, NULL, NULL, 0, 7, {at}
             FROM metrics WHERE workspace_id = '{ws}';
         INSERT INTO word_statistics VALUES ('{ws}', 1, 1, 'memory');
         INSERT INTO word_terms VALUES ('{ws}', 'term', 1, 'memory');
         INSERT INTO word_postings SELECT '{ws}', 'term', id, 1, 1, 'memory' FROM memories
             WHERE workspace_id = '{ws}';"
    );
    tokio::task::block_in_place(|| postgres().run(name, &sql));
}

/// All that a table holds, as the owner sees it.
fn rows_of(name: &str, table: &str) -> BTreeSet<String> {
    let sql = format!("SELECT to_jsonb(t) FROM mnemic.{table} t");
    let rows = tokio::task::block_in_place(|| postgres().run(name, &sql));
    rows.lines().map(str::to_owned).collect()
}

/// Row-level security is the only guard here: statements without any predicate, over every table
/// that the catalogue knows, with the session of one workspace.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_table_shows_or_yields_anything_foreign() {
    let url = database(MIGRATIONS);
    let name = url.rsplit('/').next().unwrap();
    let engine = populated_at(&url, Options::default()).await;
    for number in 1..=2 {
        fill_all(name, number);
    }
    for (table, key, is_part) in workspace_tables(&engine).await {
        let everything = rows_of(name, &table);
        let foreign: BTreeSet<_> = everything
            .iter()
            .filter(|row| row.contains(&Uuid::from_u128(2).to_string()))
            .cloned()
            .collect();
        if foreign.is_empty() {
            assert!(is_part, "{table} has no row of the other: fill it in fill_all");
            continue;
        }
        let shown = in_scope(&engine, &format!("SELECT to_jsonb(t)::text FROM {table} t")).await;
        let shown: BTreeSet<_> = shown.unwrap().into_iter().collect();
        assert!(is_part || !shown.is_empty(), "{table} shows not even what is its own");
        assert!(shown.is_disjoint(&foreign), "{table}: {shown:?}");
        let joined = format!(
            "SELECT o.{key}::text FROM {table} o JOIN workspaces w ON true
             WHERE w.id <> '{0}' OR o.{key} <> '{0}'
             UNION ALL SELECT other.{key}::text FROM workspaces mine
             LEFT JOIN {table} other ON other.{key} <> mine.id
             WHERE other.{key} IS NOT NULL",
            Uuid::from_u128(1)
        );
        let joined = in_scope(&engine, &joined).await.unwrap();
        assert!(joined.is_empty(), "{table}: {joined:?}");
        for wrong in [
            format!("UPDATE {table} SET {key} = {key} RETURNING {key}::text"),
            format!("DELETE FROM {table} RETURNING {key}::text"),
        ] {
            // A key that others refer to may refuse; what is hit is never another's.
            let hit = in_scope(&engine, &wrong).await.unwrap_or_default();
            assert!(hit.iter().all(|id| *id == Uuid::from_u128(1).to_string()), "{wrong}: {hit:?}");
        }
        let moved =
            format!("UPDATE {table} SET {key} = '{}' RETURNING {key}::text", Uuid::from_u128(2));
        let given = in_scope(&engine, &moved).await;
        assert!(given.is_err() || shown.is_empty(), "{table}: rows cannot be given away");
        assert_eq!(rows_of(name, &table), everything, "{table}");
    }
}

/// Every table with the column that says whose a row is, and whether it is a part of another.
async fn workspace_tables(engine: &PostgresEngine) -> Vec<(String, String, bool)> {
    let client = engine.pool.get().await.unwrap();
    let sql = "SELECT c.relname::text, a.attname::text, c.relispartition
               FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
               LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
                AND a.attname = CASE WHEN c.relname = 'workspaces' THEN 'id' ELSE 'workspace_id' END
               WHERE n.nspname = 'mnemic' AND c.relkind IN ('r', 'p')
                 AND c.relname <> 'schema_migrations'
               ORDER BY 1";
    let rows = client.query(sql, &[]).await.unwrap();
    let key = |row: &tokio_postgres::Row| {
        let key: Option<String> = row.get(1);
        key.unwrap_or_else(|| panic!("{} does not say whose a row is", row.get::<_, String>(0)))
    };
    rows.iter().map(|row| (row.get(0), key(row), row.get(2))).collect()
}

/// Runs SQL as the engine would in the first workspace, and undoes it.
async fn in_scope(
    engine: &PostgresEngine,
    sql: &str,
) -> Result<Vec<String>, tokio_postgres::Error> {
    let mut session = engine.session(Access::Write).await.unwrap();
    session.begin(ONE, &[]).await.unwrap();
    let rows = session.client().query(sql, &[]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_table_and_part_is_closed_without_a_scope() {
    let engine = populated(Options::default()).await;
    let client = engine.pool.get().await.unwrap();
    let sql = "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
               WHERE n.nspname = 'mnemic' AND c.relkind IN ('r', 'p')
                 AND c.relname <> 'schema_migrations'";
    let tables = client.query(sql, &[]).await.unwrap();
    assert!(tables.len() > 20, "parts included");
    for table in &tables {
        let table: &str = table.get(0);
        let rows = client.query(&format!("SELECT * FROM {table}"), &[]).await.unwrap();
        assert!(rows.is_empty(), "{table}");
        let emptied = client.batch_execute(&format!("TRUNCATE {table}")).await;
        assert!(emptied.is_err(), "{table} may not be truncated: no policy guards that");
    }
}

/// Requests end at any point of their way: before they are sent, between their round trips,
/// after all was sent, by being dropped or by a panic. The one connection serves the next
/// workspace as if nothing had been, and is still there at the end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_break_off_leave_nothing_on_their_connection() {
    let engine = Arc::new(populated(Options { connections_max: 1, ..Options::default() }).await);
    let mut noise = Noise(11);
    let (mut finished, mut panicked) = (0, 0);
    for number in 0..REQUESTS {
        let (mine, own) = if noise.below(2) == 0 { (ONE, "of 1") } else { (TWO, "of 2") };
        let polls = u32::try_from(noise.below(8)).unwrap();
        let request = request(engine.clone(), mine, own, number, noise.below(3));
        let end = if noise.below(3) == 0 { End::Panicked } else { End::Dropped };
        match tokio::spawn(abandon(polls, end, request)).await {
            Ok(done) => finished += u32::from(done.is_some()),
            Err(error) => {
                assert!(end == End::Panicked, "{error}");
                panicked += 1;
            }
        }
        if number % 10 == 0 {
            assert_eq!(runs(&engine, ONE).await, ["of 1"], "after {number}");
            assert_eq!(runs(&engine, TWO).await, ["of 2"], "after {number}");
        }
    }
    assert!(finished > 0 && panicked > 0 && finished + panicked < REQUESTS, "of every kind");
    let status = engine.pool.status();
    assert_eq!((status.size, status.available), (1, 1), "the connection is back in the pool");
    let client = engine.pool.get().await.unwrap();
    let sql = "SELECT coalesce(current_setting('app.ws', true), ''),
                      coalesce(current_setting('app.scope', true), ''),
                      (SELECT count(*) FROM pg_locks
                       WHERE locktype = 'advisory' AND pid = pg_backend_pid())";
    let left = client.query_one(sql, &[]).await.unwrap();
    assert_eq!((left.get(0), left.get(1)), ("", ""), "no scope outlives its transaction");
    assert_eq!(left.get::<_, i64>(2), 0, "nor does a lock");
}

/// A batch that fails at its end, a slow read, or many reads of one state. None of them changes
/// anything; each sees its own workspace alone.
async fn request(
    engine: Arc<PostgresEngine>,
    mine: Scope,
    own: &'static str,
    number: u32,
    kind: u64,
) {
    match kind {
        0 => {
            let mut batch = Batch::from(Step::new(&ADD, values![format!("note {number}")]));
            batch.push(Step::new(&ADD, values![own]).expect(Expect::Rows(1)));
            let refused = engine.write(mine, batch).await.unwrap_err();
            assert_eq!(refused.kind(), Kind::Conflict);
        }
        1 => assert_eq!(engine.read(mine, &SLOW, vec![]).await.unwrap().len(), 1),
        _ => {
            for rows in engine.read_each(mine, &EVERYBODYS, vec![vec![]; 3]).await.unwrap() {
                let seen: Vec<_> = rows.iter().map(|row| row.string("run_id").unwrap()).collect();
                assert_eq!(seen, [own]);
            }
        }
    }
}

/// How a request breaks off.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Dropped,
    Panicked,
}

/// Polls a future a few times, with room for answers to come in between, and breaks it off. A
/// panic unwinds through it while it is under way.
async fn abandon<T>(polls: u32, end: End, future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    for _ in 0..polls {
        if let Poll::Ready(done) = poll_once(future.as_mut()) {
            return Some(done);
        }
        tokio::time::sleep(std::time::Duration::from_micros(300)).await;
    }
    assert!(end == End::Dropped, "mid-way");
    None
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn panicking_requests_leave_nothing_on_their_connection() {
    let engine = Arc::new(populated(Options { connections_max: 1, ..Options::default() }).await);
    for number in 0..100 {
        let inner = engine.clone();
        let broken = std::panic::catch_unwind(AssertUnwindSafe(|| {
            wait(async move {
                let mut session = inner.session(Access::Write).await.unwrap();
                let name = values![format!("note {number}")];
                let arguments = ADD.arguments(ONE, name).unwrap();
                let call = Call { statement: &ADD, arguments: &arguments };
                session.begin(ONE, &[call]).await.unwrap();
                panic!("in the midst of a transaction");
            })
        }));
        assert!(broken.is_err());
        assert_eq!(runs(&engine, TWO).await, ["of 2"]);
        assert_eq!(runs(&engine, ONE).await, ["of 1"], "what was begun is undone");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_of_one_serves_many_workspaces_without_mixing_them() {
    let engine = Arc::new(populated(Options { connections_max: 1, ..Options::default() }).await);
    let mut tasks = JoinSet::new();
    for number in 0..200 {
        let engine = engine.clone();
        tasks.spawn(async move {
            let (scope, expected) = if number % 2 == 0 { (ONE, "of 1") } else { (TWO, "of 2") };
            assert_eq!(runs(&engine, scope).await, [expected]);
        });
    }
    tasks.join_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_in_use_is_unavailable_for_a_while() {
    let options = Options {
        connections_max: 1,
        wait_timeout: std::time::Duration::from_millis(50),
        ..Options::default()
    };
    let engine = populated(options).await;
    let held = engine.pool.get().await.unwrap();
    let refused = engine.read(ONE, &COUNT, vec![]).await.unwrap_err();
    assert_eq!(refused.kind(), Kind::Unavailable);
    drop(held);
    assert_eq!(engine.read(ONE, &COUNT, vec![]).await.unwrap().len(), 1);
}
