//! The server starts, gives out databases, and comes back after a crash.

use mnemic_test_servers::Postgres;

#[test]
fn a_server_has_pgvector_and_survives_a_crash() {
    let server = Postgres::start();
    let name = server.database("template1");
    server.run(&name, "CREATE EXTENSION vector; CREATE TABLE kept (v vector)");
    server.run(&name, "INSERT INTO kept VALUES ('[1,2,3]')");
    server.crash();
    server.restart();
    assert_eq!(server.run(&name, "SELECT v FROM kept"), "[1,2,3]\n");
}
