//! Search by words ranks as the embedded engine does, and its counts follow every change.

use std::sync::Arc;

use jiff::Timestamp;
use mnemic_core::recall::{Hit, ItemKind, SearchFilter};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::statements::workspace;
use crate::{SearchEngine, sqlite, values};

static PUT: Statement = Statement::workspace(
    "test.put",
    "INSERT INTO memories (workspace_id, id, kind, channel, content, confidence, weight, source_ids,
         entities, superseded_at, access_count, times_referenced, pinned, created_by, created_at,
         updated_at, revision)
     VALUES ($1, $2, 'memory', $3, $4, 1, 1, $5, $5, $6, 0, 0, false, 'test', $7, $7, 1)
     ON CONFLICT (workspace_id, id) DO UPDATE SET channel = excluded.channel,
         content = excluded.content, superseded_at = excluded.superseded_at",
);
static REMOVE: Statement =
    Statement::workspace("test.remove", "DELETE FROM memories WHERE workspace_id = $1 AND id = $2");

const LIMIT: usize = 10;
const CASES: u32 = 12;
/// The embedded engine computes in single precision.
const CLOSE: f32 = 1e-3;

#[derive(Debug, Clone)]
enum Change {
    Put { item: u128, text: String, channel: &'static str, superseded: bool },
    Remove { item: u128 },
}

/// A few words are in most texts, and most words in few.
fn word() -> impl Strategy<Value = String> {
    (0.0_f64..1.0).prop_map(|unit| format!("word{}", 300_f64.powf(unit).round()))
}

fn text(words: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    proptest::collection::vec(word(), words).prop_map(|words| words.join(" "))
}

fn change() -> impl Strategy<Value = Change> {
    let item = 0_u128..200;
    let put = (item.clone(), text(0..25), prop_oneof!["left", "right"], 0..4_u8).prop_map(
        |(item, text, channel, age)| Change::Put {
            item,
            text,
            channel: if channel == "left" { "left" } else { "right" },
            superseded: age == 0,
        },
    );
    prop_oneof![8 => put, 1 => item.prop_map(|item| Change::Remove { item })]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_engines_rank_alike() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let indexes = Arc::new(sqlite::Indexes::new(usize::MAX));
    let options = sqlite::Options::default();
    let embedded = sqlite::SqliteEngine::open(&path, options, sqlite::MIGRATIONS, indexes).unwrap();
    let shared = opened().await;
    let strategy = (
        proptest::collection::vec(proptest::collection::vec(change(), 1..80), 1..8),
        proptest::collection::vec(text(1..7), 8),
    );
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&strategy, |(batches, queries)| {
        wait(compare(&embedded, &shared, &batches, &queries));
        Ok(())
    });
    outcome.unwrap();
    let findings = shared.check(CheckDepth::Full).await.unwrap();
    assert!(findings.is_empty(), "{findings:?}");
}

async fn compare(
    embedded: &impl SearchEngine,
    shared: &impl SearchEngine,
    batches: &[Vec<Change>],
    queries: &[String],
) {
    let workspace = Uuid::new_v4();
    apply(embedded, workspace, batches).await;
    apply(shared, workspace, batches).await;
    let channels = Some(vec!["left".to_owned()]);
    let filters = [
        SearchFilter::default(),
        SearchFilter { include_superseded: true, ..SearchFilter::default() },
        SearchFilter { channels, ..SearchFilter::default() },
    ];
    let scope = Scope::Workspace(workspace);
    for query in queries {
        for filter in &filters {
            // One more than is compared, to know what else might have taken the last place.
            let one = embedded
                .search_words(scope, ItemKind::Memory, query, filter, LIMIT + 1)
                .await
                .unwrap();
            let other = shared
                .search_words(scope, ItemKind::Memory, query, filter, LIMIT + 1)
                .await
                .unwrap();
            assert_eq!(one.len(), other.len(), "{query} {filter:?}");
            assert_alike(&one, &other);
        }
    }
}

async fn apply(engine: &impl SearchEngine, id: Uuid, batches: &[Vec<Change>]) {
    let now = Timestamp::UNIX_EPOCH;
    let make = values![id, id.to_string(), json!({}), 1, now, now];
    engine.write(Scope::System, Step::new(&workspace::ADD, make).into()).await.unwrap();
    for changes in batches {
        let mut batch = Batch::new();
        for change in changes {
            let item = match change {
                Change::Put { item, text, channel, superseded } => {
                    let superseded = superseded.then_some(now);
                    let row =
                        values![Uuid::from_u128(*item), *channel, text, json!([]), superseded, now];
                    batch.run(&PUT, row);
                    *item
                }
                Change::Remove { item } => {
                    batch.run(&REMOVE, values![Uuid::from_u128(*item)]);
                    *item
                }
            };
            batch.touch(ItemKind::Memory, Uuid::from_u128(item));
        }
        engine.write(Scope::Workspace(id), batch).await.unwrap();
    }
}

/// The same in each place, unless scores are so close that rounding decides.
fn assert_alike(one: &[Hit], other: &[Hit]) {
    for (place, (ours, theirs)) in one.iter().zip(other).enumerate().take(LIMIT) {
        assert!((ours.score - theirs.score).abs() < CLOSE, "{place}: {one:?} {other:?}");
        let tied = |hit: &&Hit| (hit.score - ours.score).abs() < CLOSE;
        let rivals = one.iter().filter(tied).count();
        assert!(ours.id == theirs.id || rivals > 1, "{place}: {one:?} {other:?}");
    }
}

/// What was listed before words were counted is counted when the schema is brought up to date,
/// also by an owner to whom the policies apply.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_listed_before_is_counted() {
    let name = postgres().database("template1");
    let sql = format!(
        "CREATE EXTENSION vector;
         CREATE ROLE {name}_owner LOGIN CREATEROLE; ALTER DATABASE {name} OWNER TO {name}_owner;"
    );
    postgres().run(&name, &sql);
    let owner = postgres().url(&format!("{name}_owner"), &name);
    let before = MIGRATIONS.iter().position(|migration| migration.name == "words").unwrap();
    super::super::setup::setup_with(&owner, false, &MIGRATIONS[..before]).await.unwrap();
    for number in 1..=2 {
        let id = Uuid::from_u128(number);
        let sql = format!(
            "SET search_path = mnemic;
             INSERT INTO workspaces VALUES ('{id}', '{number}', '{{}}', 1, now(), now());
             INSERT INTO word_postings
             SELECT '{id}', term, gen_random_uuid(), 1, 1
             FROM unnest(ARRAY['twice', 'twice', 'once']) AS term"
        );
        postgres().run(&name, &sql);
    }
    super::super::setup::setup_with(&owner, false, MIGRATIONS).await.unwrap();
    let sql = "SELECT right(workspace_id::text, 1), term, documents FROM mnemic.word_terms
               ORDER BY workspace_id, term";
    let counted = postgres().run(&name, sql);
    assert_eq!(counted, "1|once|1\n1|twice|2\n2|once|1\n2|twice|2\n");
}
