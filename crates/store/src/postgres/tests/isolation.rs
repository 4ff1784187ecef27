//! Workspaces are kept apart by the database itself, whatever a statement forgets and however a
//! request ends.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use mnemic_core::{Code, Kind};
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
    let url = database(MIGRATIONS);
    let engine = PostgresEngine::open(&url, options, MIGRATIONS).await.unwrap();
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
/// after all was sent. The one connection serves the next workspace as if nothing had been.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelled_requests_leave_nothing_on_their_connection() {
    let engine = populated(Options { connections_max: 1, ..Options::default() }).await;
    let mut finished = 0;
    for number in 0..REQUESTS {
        let (mine, other) = if number % 2 == 0 { (ONE, "of 1") } else { (TWO, "of 2") };
        let polls = number % 7;
        let done = match number % 3 {
            0 => {
                let failing = Step::new(&ADD, values![other]).expect(Expect::Rows(1));
                let note = Step::new(&ADD, values![format!("note {number}")]);
                let mut batch = Batch::from(note);
                batch.push(failing);
                abandon(polls, engine.write(mine, batch)).await.is_some()
            }
            1 => abandon(polls, engine.read(mine, &SLOW, vec![])).await.is_some(),
            _ => {
                let sets = vec![vec![]; 3];
                abandon(polls, engine.read_each(mine, &COUNT, sets)).await.is_some()
            }
        };
        finished += u32::from(done);
        if number % 10 == 0 {
            assert_eq!(runs(&engine, ONE).await, ["of 1"], "after {number}");
            assert_eq!(runs(&engine, TWO).await, ["of 2"], "after {number}");
        }
    }
    assert!(finished < REQUESTS, "some were abandoned");
    let client = engine.pool.get().await.unwrap();
    let sql = "SELECT coalesce(current_setting('app.ws', true), ''),
                      coalesce(current_setting('app.scope', true), '')";
    let left = client.query_one(sql, &[]).await.unwrap();
    assert_eq!((left.get(0), left.get(1)), ("", ""), "no scope outlives its transaction");
}

/// Polls a future a few times, with room for answers to come in between, and drops it.
async fn abandon<T>(polls: u32, future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    for _ in 0..polls {
        let mut context = Context::from_waker(Waker::noop());
        if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return Some(done);
        }
        tokio::time::sleep(std::time::Duration::from_micros(300)).await;
    }
    None
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
