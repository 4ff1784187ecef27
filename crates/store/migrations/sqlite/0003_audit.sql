-- What was done, by whom, and how it went. Written with every change, so it is one tree and not two.
CREATE TABLE audit (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    at INTEGER NOT NULL,
    operation TEXT NOT NULL,
    token_id BLOB NOT NULL,
    role TEXT NOT NULL,
    agent TEXT,
    user_name TEXT,
    session_id TEXT,
    conversation_id TEXT,
    channel TEXT,
    target_channels TEXT NOT NULL,
    domain TEXT,
    query TEXT,
    record_ids TEXT NOT NULL,
    records INTEGER NOT NULL,
    latency_us INTEGER NOT NULL,
    error TEXT,
    details TEXT,
    PRIMARY KEY (workspace_id, id, at)
) STRICT, WITHOUT ROWID;
