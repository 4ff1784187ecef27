-- Who does which background work, and how it went the last time.
CREATE TABLE jobs (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    name TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    claimed_at INTEGER,
    lease_until INTEGER,
    started_at INTEGER,
    finished_at INTEGER,
    changed INTEGER NOT NULL,
    error TEXT,
    failures INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, name)
) STRICT;
