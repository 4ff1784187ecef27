-- What agents keep for themselves.
CREATE TABLE scratchpads (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    agent TEXT NOT NULL,
    id BLOB NOT NULL,
    content TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, agent)
) STRICT;
CREATE UNIQUE INDEX scratchpads_by_id ON scratchpads (workspace_id, id);
