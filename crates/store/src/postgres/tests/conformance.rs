//! The common suite on PostgreSQL.

use std::sync::Arc;

use super::*;
use crate::conformance::{Opened, conformance};

const SAMPLES: &[Migration] = &[Migration {
    number: 1,
    name: "conformance",
    sql: r#"CREATE TABLE samples (
                workspace_id uuid NOT NULL,
                id uuid NOT NULL,
                name text COLLATE "C" NOT NULL,
                rank bigint,
                score double precision,
                done boolean,
                at timestamptz,
                data jsonb,
                raw bytea,
                vec vector,
                PRIMARY KEY (workspace_id, id),
                UNIQUE (workspace_id, name)
            );
            CREATE TABLE parts (
                workspace_id uuid NOT NULL,
                id uuid NOT NULL,
                sample_id uuid NOT NULL,
                PRIMARY KEY (workspace_id, id),
                FOREIGN KEY (workspace_id, sample_id)
                    REFERENCES samples (workspace_id, id) ON DELETE CASCADE
            );
            ALTER TABLE samples ENABLE ROW LEVEL SECURITY;
            ALTER TABLE samples FORCE ROW LEVEL SECURITY;
            CREATE POLICY own ON samples
                USING (workspace_id = nullif(current_setting('app.ws', true), '')::uuid);
            CREATE POLICY system ON samples
                USING (current_setting('app.scope', true) = 'system');
            ALTER TABLE parts ENABLE ROW LEVEL SECURITY;
            ALTER TABLE parts FORCE ROW LEVEL SECURITY;
            CREATE POLICY own ON parts
                USING (workspace_id = nullif(current_setting('app.ws', true), '')::uuid);"#,
}];

fn opened() -> Opened {
    let url = database(SAMPLES);
    let engine = wait(PostgresEngine::open(&url, Options::default(), SAMPLES)).unwrap();
    (Arc::new(engine), Box::new(()))
}

conformance!(opened);
