-- Contradictions that somebody is to decide. There is no text in it: memories are named by ids.
CREATE TABLE reviews (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    topic TEXT NOT NULL,
    old_id BLOB NOT NULL,
    new_id BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    decision TEXT,
    decided_at INTEGER,
    revision INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT;
CREATE INDEX reviews_by_old ON reviews (workspace_id, old_id);
CREATE INDEX reviews_by_new ON reviews (workspace_id, new_id);
