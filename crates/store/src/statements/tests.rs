//! What holds for every statement, so that a new one cannot get it wrong unnoticed.

use std::collections::BTreeSet;

use super::{all, workspace};
use crate::Statement;
use crate::sqlite::MIGRATIONS;

fn database() -> rusqlite::Connection {
    let conn = rusqlite::Connection::open_in_memory().unwrap();
    for migration in MIGRATIONS {
        conn.execute_batch(migration.sql).unwrap();
    }
    conn
}

#[test]
fn every_statement_stays_inside_its_workspace() {
    let faults: Vec<_> = all().flat_map(crate::scope_check::statement_faults).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_statement_fits_the_schema() {
    let conn = database();
    for statement in all() {
        conn.prepare(statement.sql).unwrap_or_else(|e| panic!("{}: {e}", statement.name));
    }
}

/// How the database goes about a statement.
fn plan(conn: &rusqlite::Connection, statement: &Statement) -> Vec<String> {
    let mut explain = conn.prepare(&format!("EXPLAIN QUERY PLAN {}", statement.sql)).unwrap();
    let nulls = std::iter::repeat_n(rusqlite::types::Null, explain.parameter_count());
    let nulls = rusqlite::params_from_iter(nulls);
    let steps = explain.query_map(nulls, |row| row.get::<_, String>("detail")).unwrap();
    steps.map(Result::unwrap).collect()
}

/// A recall must not read all there is to find what a query speaks of.
#[test]
fn entities_are_found_by_indexes() {
    let conn = database();
    for statement in super::entity::ALL {
        let steps = plan(&conn, statement);
        assert!(steps.iter().any(|step| step.starts_with("SEARCH")), "{steps:?}");
        // A walk through a whole workspace is a search by its id alone.
        assert!(!steps.iter().any(|step| step.ends_with("(workspace_id=?)")), "{steps:?}");
        for table in ["edges", "nodes", "node_aliases", "memories", "n", "a", "m"] {
            let scan = format!("SCAN {table}");
            let scans = steps.iter().any(|s| *s == scan || s.starts_with(&format!("{scan} ")));
            assert!(!scans, "{}: {steps:?}", statement.name);
        }
    }
}

/// What was done in one session must not cost by what was done in all, whether it is grouped or not.
#[test]
fn actions_and_benchmarks_are_found_by_indexes() {
    let conn = database();
    let found = |index, by| format!("USING INDEX {index} ({by})");
    let session = "workspace_id=? AND session_id=?";
    let ungrouped = || found("actions_ungrouped", session);
    let grouped = || found("actions_by_session", session);
    for (name, expected) in [
        ("action.list_of_session", vec![ungrouped(), grouped()]),
        (
            "action.list",
            vec![
                found("actions_ungrouped", "workspace_id=? AND session_id>?"),
                found("actions_by_time", "workspace_id=?"),
            ],
        ),
        ("action.erase_ungrouped", vec![ungrouped()]),
        ("action.erase_grouped", vec![grouped()]),
        ("action.blank_ungrouped", vec![ungrouped()]),
        ("action.blank_grouped", vec![grouped()]),
        ("benchmark.lookup", vec![found("benchmarks_by_id", "workspace_id=? AND id=?")]),
    ] {
        let statement = all().find(|it| it.name == name).unwrap();
        let steps = plan(&conn, statement).into_iter();
        let searches = steps.filter_map(|step| Some(step.strip_prefix("SEARCH ")?.to_owned()));
        let indexes: Vec<_> =
            searches.map(|it| it.split_once(' ').unwrap().1.replace("COVERING ", "")).collect();
        assert_eq!(indexes, expected, "{name}");
    }
}

#[test]
fn names_are_unique() {
    let names: Vec<_> = all().map(|statement| statement.name).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
}

#[test]
fn a_hard_delete_forgets_no_table() {
    let conn = database();
    let mut tables = conn
        .prepare(
            "SELECT t.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c
             WHERE t.type = 'table' AND c.name = 'workspace_id' AND t.name <> 'tokens'",
        )
        .unwrap();
    let in_schema: BTreeSet<String> =
        tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let emptied: BTreeSet<String> =
        workspace::CONTENTS.iter().map(|content| content.table.to_owned()).collect();
    assert_eq!(in_schema, emptied);
}
