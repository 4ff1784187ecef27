-- The borders inside a workspace. Grants are part of it, so that they come with the token.
ALTER TABLE workspaces ADD COLUMN grants TEXT NOT NULL DEFAULT '[]';

CREATE TABLE domains (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    name TEXT NOT NULL,
    description TEXT,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, name)
) STRICT;

CREATE TABLE policies (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    rule TEXT NOT NULL,
    domain TEXT NOT NULL,
    source_fact_ids TEXT NOT NULL,
    required_role TEXT,
    active INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT;
CREATE INDEX policies_by_domain ON policies (workspace_id, domain);
