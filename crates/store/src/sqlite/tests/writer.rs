//! Who commits where: on the own thread while nobody else writes, in groups on the writer's.

use super::*;

const GOVERNED: &[Migration] = &[Migration {
    number: 1,
    name: "governed",
    sql: "CREATE TABLE tokens (id INTEGER PRIMARY KEY) STRICT;
          CREATE TABLE notes (
              workspace_id BLOB NOT NULL, id BLOB NOT NULL, body TEXT NOT NULL,
              PRIMARY KEY (workspace_id, id)
          ) STRICT",
}];
static ADMIT: Statement = Statement::system("token.admit", "INSERT INTO tokens VALUES ($1)");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_comes_between_two_commits_is_not_forgotten() {
    let directory = TempDir::new().unwrap();
    let engine = Arc::new(open(directory.path()));
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..8_u128 {
        let engine = engine.clone();
        tasks.spawn(async move {
            for number in 0..25 {
                let number = writer * 1_000 + number;
                engine.write(WORKSPACE, add(number, "kept")).await.unwrap();
                let again = engine.write(WORKSPACE, add(number, "again")).await;
                assert_eq!(again.unwrap_err().kind(), Kind::Conflict);
                if number % 7 == 0 {
                    let seen = engine.exclusive(|reader| reader.read(WORKSPACE, &LIST, vec![]));
                    let seen = seen.await.unwrap().unwrap();
                    assert!(seen.iter().any(|row| row.uuid("id").unwrap() == id(number)));
                }
            }
        });
    }
    tasks.join_all().await;
    assert_eq!(bodies(&*engine).await, vec!["kept"; 200]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_that_is_alone_is_undone_as_a_whole() {
    let directory = TempDir::new().unwrap();
    let engine = open(directory.path());
    let mut batch = add(1, "first");
    batch.push(Step::new(&DELETE, values![id(2)]).expect(Expect::Rows(1)));
    assert_eq!(engine.write(WORKSPACE, batch).await.unwrap_err().kind(), Kind::Conflict);
    assert!(bodies(&engine).await.is_empty());
    engine.write(WORKSPACE, add(1, "second")).await.unwrap();
    assert_eq!(bodies(&engine).await, ["second"]);
    engine.close().await;
    let refused = engine.write(WORKSPACE, add(2, "third")).await.unwrap_err();
    assert_eq!(refused.kind(), Kind::Unavailable);
    assert_eq!(bodies(&open(directory.path())).await, ["second"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reign_ends_where_tokens_change_and_only_there() {
    let directory = TempDir::new().unwrap();
    let engine = try_open(directory.path(), Options::default(), GOVERNED).unwrap();
    let first = engine.reign().unwrap();
    engine.write(WORKSPACE, add(1, "a")).await.unwrap();
    assert_eq!(engine.reign(), Some(first));
    engine.write(Scope::System, Step::new(&ADMIT, values![1]).into()).await.unwrap();
    assert!(engine.reign().unwrap() > first);
}
