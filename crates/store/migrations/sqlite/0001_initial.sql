-- Workspaces and tokens belong to the installation; every other table to one workspace.

CREATE TABLE workspaces (
    id BLOB NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    settings TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER
) STRICT;
CREATE UNIQUE INDEX workspaces_by_name ON workspaces (name) WHERE deleted_at IS NULL;

CREATE TABLE tokens (
    id BLOB NOT NULL PRIMARY KEY,
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    hash BLOB NOT NULL UNIQUE,
    prefix TEXT NOT NULL,
    role TEXT NOT NULL,
    agent TEXT,
    user_name TEXT,
    operator INTEGER NOT NULL,
    profile TEXT,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;
CREATE INDEX tokens_by_workspace ON tokens (workspace_id, id);

CREATE TABLE memories (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    kind TEXT NOT NULL,
    channel TEXT NOT NULL,
    domain TEXT,
    topic TEXT,
    content TEXT NOT NULL,
    confidence REAL NOT NULL,
    weight REAL NOT NULL,
    source TEXT,
    source_ids TEXT NOT NULL,
    entities TEXT NOT NULL,
    temporal TEXT,
    valid_from INTEGER,
    valid_to INTEGER,
    superseded_by BLOB,
    superseded_at INTEGER,
    access_count INTEGER NOT NULL,
    last_accessed INTEGER,
    times_referenced INTEGER NOT NULL,
    pinned INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    revision INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT;
CREATE INDEX memories_by_successor ON memories (workspace_id, superseded_by)
    WHERE superseded_by IS NOT NULL;
CREATE INDEX memories_by_references ON memories (workspace_id, times_referenced)
    WHERE times_referenced > 0;

-- The small code is read when an index is built, the vector when a search is settled.
CREATE TABLE vectors (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    item_id BLOB NOT NULL,
    model TEXT NOT NULL,
    code BLOB NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (workspace_id, item_id, model)
) STRICT;

CREATE TABLE edges (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    channel TEXT NOT NULL,
    source_id BLOB NOT NULL,
    target_id BLOB NOT NULL,
    relation TEXT NOT NULL,
    properties TEXT NOT NULL,
    valid_from INTEGER,
    valid_to INTEGER,
    recorded_at INTEGER NOT NULL,
    superseded_at INTEGER,
    PRIMARY KEY (workspace_id, id)
) STRICT;
CREATE INDEX edges_by_source ON edges (workspace_id, source_id, relation);
CREATE INDEX edges_by_target ON edges (workspace_id, target_id, relation);

CREATE TABLE runs (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    run_id TEXT NOT NULL,
    outcome TEXT,
    finished_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, run_id)
) STRICT;

CREATE TABLE citations (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    run_id TEXT NOT NULL,
    memory_id BLOB NOT NULL,
    PRIMARY KEY (workspace_id, run_id, memory_id)
) STRICT;
CREATE INDEX citations_by_memory ON citations (workspace_id, memory_id);

CREATE TABLE answers (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, key)
) STRICT;
CREATE INDEX answers_by_time ON answers (workspace_id, created_at);
