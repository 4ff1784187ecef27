-- How users want to be served.
CREATE TABLE profiles (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    user_name TEXT NOT NULL,
    id BLOB NOT NULL,
    preferences TEXT NOT NULL,
    expertise TEXT NOT NULL,
    communication_style TEXT NOT NULL,
    metadata TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, user_name)
) STRICT;
