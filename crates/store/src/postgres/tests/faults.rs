//! A database that goes away: nothing acknowledged is lost, nothing is acknowledged falsely, and
//! service resumes by itself.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use mnemic_core::Kind;
use mnemic_test_servers::Postgres;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::*;
use crate::{Fields as _, values};

const WORKSPACE: Scope = Scope::Workspace(Uuid::from_u128(1));
const ROUNDS_DEFAULT: usize = 20;
const WRITERS: usize = 4;

static ADD_WORKSPACE: Statement = Statement::system(
    "test.add_workspace",
    "INSERT INTO workspaces (id, name, settings, revision, created_at, updated_at)
     VALUES ($1, 'only', '{}', 1, now(), now())",
);
static ADD: Statement = Statement::workspace(
    "test.add",
    "INSERT INTO runs (workspace_id, run_id, finished_at) VALUES ($1, $2, now())",
);
static LIST: Statement =
    Statement::workspace("test.list", "SELECT run_id FROM runs WHERE workspace_id = $1");

/// As many as `MNEMIC_TEST_ROUNDS` says, for whoever wants to be surer.
fn rounds() -> usize {
    let asked = std::env::var("MNEMIC_TEST_ROUNDS").ok();
    asked.map_or(ROUNDS_DEFAULT, |rounds| rounds.parse().expect("MNEMIC_TEST_ROUNDS is a number"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crashes_under_load_lose_nothing_that_was_acknowledged() {
    let server = Postgres::start();
    let name = server.database("template1");
    let role = setup(&server.owner_url(&name), false).await.unwrap().role;
    let options = Options { connect_timeout: Duration::from_secs(1), ..Options::default() };
    let engine = PostgresEngine::open(&server.url(&role, &name), options, MIGRATIONS).await;
    let engine = Arc::new(engine.unwrap());
    let first = Step::new(&ADD_WORKSPACE, values![Uuid::from_u128(1)]);
    engine.write(Scope::System, first.into()).await.unwrap();
    let (stop, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
    let mut writers = JoinSet::new();
    for _ in 0..WRITERS {
        let (engine, stop, count) = (engine.clone(), stop.clone(), count.clone());
        writers.spawn(async move {
            let (mut written, mut unclear) = (BTreeSet::new(), BTreeSet::new());
            while !stop.load(Ordering::Relaxed) {
                let run = count.fetch_add(1, Ordering::Relaxed).to_string();
                let step = Step::new(&ADD, values![run.as_str()]);
                match engine.write(WORKSPACE, step.into()).await {
                    Ok(_) => written.insert(run),
                    Err(error) => {
                        assert_eq!(error.kind(), Kind::Unavailable, "{error}");
                        unclear.insert(run)
                    }
                };
            }
            (written, unclear)
        });
    }
    let rounds = rounds();
    for _ in 0..rounds {
        tokio::time::sleep(Duration::from_millis(30)).await;
        tokio::task::block_in_place(|| {
            server.crash();
            server.restart();
        });
        engine.read(WORKSPACE, &LIST, vec![]).await.expect("service resumes by itself");
    }
    stop.store(true, Ordering::Relaxed);
    let rows = {
        let outcomes = writers.join_all().await;
        let rows = engine.read(WORKSPACE, &LIST, vec![]).await.unwrap();
        (outcomes, rows)
    };
    let there: BTreeSet<_> = rows.1.iter().map(|row| row.string("run_id").unwrap()).collect();
    let written: BTreeSet<_> = rows.0.iter().flat_map(|(written, _)| written.clone()).collect();
    let unclear: BTreeSet<_> = rows.0.iter().flat_map(|(_, unclear)| unclear.clone()).collect();
    assert!(written.is_subset(&there), "lost: {:?}", written.difference(&there));
    let accounted = written.union(&unclear).cloned().collect();
    assert!(there.is_subset(&accounted), "nothing came from nowhere");
    assert!(written.len() > rounds, "{} written", written.len());
    println!(
        "{rounds} crashes: {} acknowledged, none lost; {} unanswered, {} of them written",
        written.len(),
        unclear.len(),
        there.intersection(&unclear).count()
    );
}
