-- Goals. What they are a part of and what they wait for are edges.
CREATE TABLE goals (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    channel TEXT NOT NULL,
    conversation_id TEXT,
    description TEXT NOT NULL,
    status TEXT NOT NULL,
    priority INTEGER NOT NULL,
    deadline INTEGER,
    result TEXT,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    finished_at INTEGER,
    revision INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT;
CREATE INDEX goals_by_status ON goals (workspace_id, status, id);
CREATE INDEX goals_by_conversation ON goals (workspace_id, conversation_id, id)
    WHERE conversation_id IS NOT NULL;
