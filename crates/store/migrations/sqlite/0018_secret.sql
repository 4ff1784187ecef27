-- Secrets of a workspace, such as the key to its model: encrypted with a key that is not in here.
CREATE TABLE secrets (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    name TEXT NOT NULL,
    audience TEXT NOT NULL,
    master_key_id TEXT NOT NULL,
    sealed BLOB NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, name)
) STRICT;
