//! What is particular to this engine: roles, policies, cancelled requests, lost connections.

use mnemic_test_servers::postgres;

use super::*;

mod conformance;

/// A fresh database with this schema, and the runtime user's address of it.
pub(super) fn database(migrations: &[Migration]) -> String {
    let owner = postgres().database("template1");
    let prepared = wait(setup::setup_with(&owner, false, migrations)).unwrap();
    let name = owner.rsplit('/').next().unwrap();
    postgres().url(&prepared.role, name)
}

/// Waits inside of a test that has a runtime with several threads.
pub(super) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(future))
}
