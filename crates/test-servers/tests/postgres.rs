//! The server starts, gives out databases, and comes back after a crash.

use mnemic_test_servers::Postgres;

#[test]
fn a_server_has_pgvector_and_survives_a_crash() {
    let server = Postgres::start();
    let url = server.database("template1");
    assert!(url.ends_with("/test_0"), "{url}");
    server.run("test_0", "CREATE EXTENSION vector; CREATE TABLE kept (v vector)");
    server.run("test_0", "INSERT INTO kept VALUES ('[1,2,3]')");
    server.crash();
    server.restart();
    assert_eq!(server.run("test_0", "SELECT v FROM kept"), "[1,2,3]\n");
}
