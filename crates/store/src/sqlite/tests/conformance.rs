//! The common suite on SQLite.

use super::*;
use crate::conformance::{Opened, conformance};

const SCHEMA: &[Migration] = &[Migration {
    number: 1,
    name: "conformance",
    sql: "CREATE TABLE samples (
              workspace_id BLOB NOT NULL,
              id BLOB NOT NULL,
              name TEXT NOT NULL,
              rank INTEGER,
              score REAL,
              done INTEGER,
              at INTEGER,
              data TEXT,
              raw BLOB,
              vec BLOB,
              PRIMARY KEY (workspace_id, id),
              UNIQUE (workspace_id, name)
          ) STRICT;
          CREATE TABLE parts (
              workspace_id BLOB NOT NULL,
              id BLOB NOT NULL,
              sample_id BLOB NOT NULL,
              PRIMARY KEY (workspace_id, id),
              FOREIGN KEY (workspace_id, sample_id)
                  REFERENCES samples (workspace_id, id) ON DELETE CASCADE
          ) STRICT;",
}];

fn opened() -> Opened {
    let directory = TempDir::new().unwrap();
    let engine = try_open(directory.path(), Options::default(), SCHEMA).unwrap();
    (Arc::new(engine), Box::new(directory))
}

conformance!(opened);
