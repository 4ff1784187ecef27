-- Calls of tools, and their figures, which each call moves.
CREATE TABLE tool_invocations (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    tool TEXT NOT NULL,
    success INTEGER NOT NULL,
    latency_ms INTEGER,
    error TEXT,
    input TEXT,
    output TEXT,
    conversation_id TEXT,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT;
CREATE INDEX tool_invocations_by_conversation ON tool_invocations (workspace_id, conversation_id)
    WHERE conversation_id IS NOT NULL;

CREATE TABLE tools (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    tool TEXT NOT NULL,
    usage_count INTEGER NOT NULL,
    success_count INTEGER NOT NULL,
    timed_count INTEGER NOT NULL,
    latency_ms_sum INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, tool)
) STRICT;
