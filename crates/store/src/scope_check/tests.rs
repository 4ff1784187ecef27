//! Statements that must pass, and one for every way in which a statement can go wrong.

use super::*;

fn faults(sql: &'static str) -> Vec<String> {
    statement_faults(&Statement::workspace("it", sql))
}

#[test]
fn good_statements_pass() {
    for sql in [
        "SELECT a FROM notes WHERE workspace_id = $1 AND id = $2 ORDER BY a LIMIT 10;",
        "SELECT n.a FROM notes n WHERE n.id = $2 AND $1 = n.workspace_id",
        "SELECT count(*) FROM notes AS n WHERE (n.workspace_id = $1 AND (n.a = $2 OR n.b = $2))",
        "SELECT a FROM notes WHERE workspace_id = $1 AND a IS NOT DISTINCT FROM $2",
        "SELECT a FROM notes WHERE workspace_id = $1 AND at BETWEEN $2 AND $3 GROUP BY a",
        "SELECT 1 FROM notes n JOIN tags t ON t.workspace_id = n.workspace_id AND t.note = n.id
         WHERE n.workspace_id = $1",
        "SELECT 1 FROM notes n LEFT JOIN tags t ON t.workspace_id = n.workspace_id
         WHERE n.workspace_id = $1 -- a comment with FROM other",
        "SELECT w.name FROM workspaces w JOIN notes n ON n.workspace_id = w.id WHERE w.id = $1",
        "SELECT a FROM notes n WHERE n.workspace_id = $1 AND EXISTS
         (SELECT 1 FROM tags t WHERE t.workspace_id = n.workspace_id AND t.note = n.id)",
        "SELECT a FROM notes WHERE workspace_id = $1 AND id IN
         (SELECT note FROM tags WHERE workspace_id = $1)",
        "WITH old AS (SELECT id FROM notes WHERE workspace_id = $1), x AS (SELECT id FROM old)
         SELECT n.a FROM notes n JOIN x ON x.id = n.id WHERE n.workspace_id = $1",
        "WITH RECURSIVE up (id) AS (SELECT parent FROM notes WHERE workspace_id = $1 AND id = $2
         UNION ALL SELECT n.parent FROM up JOIN notes n ON n.id = up.id AND n.workspace_id = $1)
         SELECT id FROM up",
        "SELECT a FROM notes WHERE workspace_id = $1 UNION ALL
         SELECT b FROM tags WHERE workspace_id = $1",
        "INSERT INTO notes (workspace_id, id, a) VALUES ($1, $2, 'x;y'), ($1, $3, lower($4))
         RETURNING id",
        "INSERT INTO notes (id, workspace_id) VALUES ($2, $1)
         ON CONFLICT (workspace_id, id) DO UPDATE SET a = excluded.a, n = notes.n + 1",
        "INSERT INTO notes (id, workspace_id) VALUES ($2, $1) ON CONFLICT DO NOTHING",
        "INSERT INTO notes (workspace_id, id) SELECT $1, t.note FROM tags t
         WHERE t.workspace_id = $1 ON CONFLICT (workspace_id, id) DO NOTHING RETURNING id",
        "INSERT INTO notes (id, workspace_id) SELECT t.note, t.workspace_id AS w FROM tags t
         WHERE t.workspace_id = $1",
        "UPDATE notes SET a = $3, b = (SELECT max(b) FROM tags WHERE workspace_id = $1)
         WHERE workspace_id = $1 AND id = $2 RETURNING a",
        "UPDATE notes AS n SET a = t.a FROM tags t
         WHERE n.workspace_id = $1 AND t.workspace_id = n.workspace_id",
        "DELETE FROM notes WHERE workspace_id = $1 AND id = $2",
    ] {
        assert_eq!(faults(sql), Vec::<String>::new(), "{sql}");
    }
}

#[test]
fn wrong_statements_are_caught() {
    for sql in [
        // Forgotten.
        "SELECT a, $1 FROM notes",
        "SELECT a FROM notes WHERE id = $1",
        "DELETE FROM notes WHERE id = $2 AND a = $1",
        "UPDATE notes SET a = $1",
        "SELECT a FROM notes WHERE workspace_id = $2 AND id = $1",
        // There, but not certain to hold.
        "SELECT a FROM notes WHERE workspace_id = $1 OR id = $2",
        "SELECT a FROM notes WHERE id = $2 AND (workspace_id = $1 OR a = 1)",
        "SELECT a FROM notes WHERE NOT (workspace_id = $1)",
        "SELECT a FROM notes WHERE NOT workspace_id = $1",
        "SELECT a FROM notes WHERE workspace_id <> $1",
        "SELECT a FROM notes WHERE workspace_id = $1 = 0",
        "SELECT a FROM notes HAVING workspace_id = $1",
        "SELECT a FROM notes WHERE CASE WHEN a AND workspace_id = $1 AND b THEN 1 ELSE 2 END",
        "SELECT a FROM notes WHERE a BETWEEN 0 AND workspace_id = $1",
        "SELECT workspace_id = $1 FROM notes",
        "SELECT 'workspace_id = $1' FROM notes WHERE id = $1",
        "SELECT a FROM notes /* WHERE workspace_id = $1 */ WHERE id = $1",
        // Only some of the tables.
        "SELECT 1 FROM notes n JOIN tags t ON t.note = n.id WHERE n.workspace_id = $1",
        "SELECT 1 FROM notes n, tags t WHERE n.workspace_id = $1",
        "SELECT 1 FROM notes n JOIN tags t ON t.note = n.id WHERE workspace_id = $1",
        "SELECT 1 FROM notes n LEFT JOIN tags t ON n.workspace_id = $1",
        "SELECT 1 FROM notes n LEFT JOIN tags t ON n.workspace_id = t.workspace_id
         AND t.workspace_id = $1",
        "SELECT 1 FROM notes n JOIN tags t ON t.workspace_id = n.workspace_id WHERE n.id = $1",
        "SELECT 1 FROM notes n JOIN tags t ON t.workspace_id = n.id WHERE n.workspace_id = $1",
        "SELECT a FROM notes WHERE workspace_id = $1 AND id IN (SELECT note FROM tags)",
        "SELECT (SELECT max(a) FROM tags) FROM notes WHERE workspace_id = $1",
        "SELECT coalesce((SELECT a FROM tags), 0) FROM notes WHERE workspace_id = $1",
        "SELECT a FROM notes WHERE workspace_id = $1 UNION SELECT a FROM tags",
        "WITH x AS (SELECT a FROM notes) SELECT a FROM x WHERE workspace_id = $1",
        "WITH x AS (SELECT a FROM notes WHERE workspace_id = $1) SELECT t.a FROM tags t, x",
        "WITH notes AS (SELECT 1), x AS (SELECT a FROM tags) SELECT $1 FROM notes",
        "WITH notes AS (SELECT a FROM notes) SELECT $1 FROM notes",
        "SELECT a FROM (SELECT a FROM notes) n WHERE n.workspace_id = $1",
        "SELECT w.name FROM workspaces w WHERE w.workspace_id = $1",
        "UPDATE notes SET a = t.a FROM tags t WHERE notes.workspace_id = $1",
        "DELETE FROM notes WHERE workspace_id = $1 AND id = (SELECT id FROM tags)",
        // Rows put into, or moved to, another workspace.
        "INSERT INTO notes (id) VALUES ($1)",
        "INSERT INTO notes VALUES ($1, $2)",
        "INSERT INTO notes (workspace_id, id) VALUES ($2, $1)",
        "INSERT INTO notes (workspace_id, id) VALUES ($1, $2), ($2, $1)",
        "INSERT INTO notes (workspace_id, id) SELECT $2, id FROM tags WHERE workspace_id = $1",
        "INSERT INTO notes (workspace_id, id) SELECT $1, id FROM tags",
        "INSERT INTO notes (workspace_id, id) SELECT t.id, $1 FROM tags t WHERE t.workspace_id = $1",
        "INSERT OR REPLACE INTO notes (workspace_id, id) VALUES ($1, $2)",
        "INSERT INTO notes (workspace_id, id) VALUES ($1, $2)
         ON CONFLICT (id) DO UPDATE SET a = 1",
        "INSERT INTO notes (workspace_id, id) VALUES ($1, $2)
         ON CONFLICT (workspace_id, id) DO UPDATE SET a = 1, workspace_id = $2",
        "UPDATE notes SET a = 1, workspace_id = $2 WHERE workspace_id = $1",
        "UPDATE notes SET (a, workspace_id) = ($2, $2) WHERE workspace_id = $1",
        // What is not followed must not pass.
        "SELECT a FROM notes n NATURAL JOIN tags t WHERE n.workspace_id = $1",
        "SELECT a FROM main.notes WHERE workspace_id = $1",
        "SELECT a FROM notes WHERE workspace_id = $1; DELETE FROM notes",
        "PRAGMA user_version",
        "SELECT a FROM (notes JOIN tags) WHERE workspace_id = $1",
        "SELECT a FROM notes WHERE workspace_id = ?1",
        "SELECT a FROM notes WHERE workspace_id = $1 AND (a = 1",
    ] {
        assert_ne!(faults(sql), Vec::<String>::new(), "{sql}");
    }
}

#[test]
fn parameters_have_no_gaps() {
    let faults = statement_faults(&Statement::system("it", "SELECT $1, $3"));
    assert_eq!(faults, ["it: $2 is never used"]);
    assert!(statement_faults(&Statement::system("it", "SELECT a FROM tokens")).is_empty());
}
