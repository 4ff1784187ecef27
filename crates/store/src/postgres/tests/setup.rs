//! Preparing a database, and refusing to serve one that would not keep workspaces apart.

use mnemic_core::Code;

use super::*;

async fn refused(url: &str) -> String {
    let outcome = PostgresEngine::open(url, Options::default(), MIGRATIONS).await;
    let error = outcome.err().unwrap();
    assert_eq!(error.code(), Code::Conflict, "{error}");
    error.to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_may_be_repeated_and_keeps_the_password() {
    let name = postgres().database("template1");
    let owner = postgres().tcp_url(&name);
    let first = setup(&owner, false).await.unwrap();
    assert_eq!(first.migrations_applied, MIGRATIONS.len());
    let url = first.url.unwrap();
    let open = || PostgresEngine::open(&url, Options::default(), MIGRATIONS);
    open().await.unwrap().close().await;
    let second = setup(&owner, false).await.unwrap();
    assert_eq!((second.migrations_applied, second.url), (0, None));
    open().await.unwrap().close().await;
    let third = setup(&owner, true).await.unwrap();
    assert_ne!(third.url.as_deref(), Some(url.as_str()));
    let wrong = open().await.err().unwrap();
    assert_eq!(wrong.code(), Code::StoreUnavailable);
    assert!(wrong.to_string().contains("password"), "{wrong}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_could_see_everything_is_refused() {
    let name = postgres().database("template1");
    let owner = postgres().owner_url(&name);
    let role = setup(&owner, false).await.unwrap().role;
    assert!(refused(&owner).await.contains("is a superuser"));
    let url = postgres().url(&role, &name);
    postgres().run(&name, &format!("ALTER ROLE {role} BYPASSRLS"));
    assert!(refused(&url).await.contains("may bypass row-level security"));
    postgres().run(&name, &format!("ALTER ROLE {role} NOBYPASSRLS"));
    postgres().run(&name, &format!("ALTER TABLE mnemic.runs OWNER TO {role}"));
    assert!(refused(&url).await.contains("owns the tables"));
    postgres().run(&name, "ALTER TABLE mnemic.runs OWNER TO postgres");
    postgres().run(&name, "ALTER TABLE mnemic.runs NO FORCE ROW LEVEL SECURITY");
    assert!(refused(&url).await.contains("not forced on runs"));
    setup(&owner, false).await.unwrap();
    PostgresEngine::open(&url, Options::default(), MIGRATIONS).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_of_another_version_is_refused() {
    let name = postgres().database("template1");
    postgres().run("postgres", "DO $$ BEGIN CREATE ROLE stranger LOGIN; END $$");
    let bare = refused(&postgres().url("stranger", &name)).await;
    assert!(bare.contains("not prepared"), "{bare}");
    let role = setup(&postgres().owner_url(&name), false).await.unwrap().role;
    let url = postgres().url(&role, &name);
    let number = u32::try_from(MIGRATIONS.len()).unwrap() + 1;
    let later = Migration { number, name: "later", sql: "SELECT 1" };
    let known = [MIGRATIONS, &[later]].concat();
    let lacking = PostgresEngine::open(&url, Options::default(), &known).await.err().unwrap();
    assert!(lacking.to_string().contains("lacks 1 migrations"), "{lacking}");
    postgres().run(&name, "UPDATE mnemic.schema_migrations SET checksum = '\\x00'");
    assert!(refused(&url).await.contains("another migration 0001_initial"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_need_not_be_a_superuser() {
    let name = postgres().database("template1");
    let sql = format!(
        "CREATE ROLE {name}_owner LOGIN CREATEROLE; ALTER DATABASE {name} OWNER TO {name}_owner;"
    );
    postgres().run(&name, &sql);
    let refused = setup(&postgres().url(&format!("{name}_owner"), &name), false).await;
    let refused = refused.unwrap_err();
    assert!(refused.to_string().contains("pgvector"), "it is not a trusted extension: {refused}");
    postgres().run(&name, "CREATE EXTENSION vector");
    let owner = postgres().url(&format!("{name}_owner"), &name);
    let role = setup(&owner, false).await.unwrap().role;
    let url = postgres().url(&role, &name);
    PostgresEngine::open(&url, Options::default(), MIGRATIONS).await.unwrap();
}
