//! What is particular to this engine: roles, policies, cancelled requests, lost connections.

use mnemic_test_servers::postgres;

use super::*;

mod action;
mod conformance;
mod faults;
mod isolation;
mod nearest;
mod ranking;
mod schema;
mod setup;
mod tls;

/// A fresh database with this schema, and the runtime user's address of it.
pub(super) fn database(migrations: &[Migration]) -> String {
    let name = postgres().database("template1");
    let owner = postgres().owner_url(&name);
    let prepared = wait(super::setup::setup_with(&owner, false, migrations)).unwrap();
    postgres().url(&prepared.role, &name)
}

/// Waits inside of a test that has a runtime with several threads.
pub(super) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(future))
}

/// A fresh database with the schema of this version, open.
pub(super) async fn opened() -> PostgresEngine {
    PostgresEngine::open(&database(MIGRATIONS), Options::default(), MIGRATIONS).await.unwrap()
}
