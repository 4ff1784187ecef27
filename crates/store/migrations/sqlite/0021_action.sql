-- What agents did: types, outcomes and times, and never what they said or were given.
CREATE TABLE actions (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    session_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    action_type TEXT NOT NULL,
    node_type TEXT,
    node_ids TEXT NOT NULL,
    outcome TEXT NOT NULL,
    error_code TEXT,
    latency_ms INTEGER,
    at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    sequence_id BLOB,
    PRIMARY KEY (workspace_id, id)
) STRICT;
CREATE INDEX actions_ungrouped ON actions (workspace_id, session_id, at, id)
    WHERE sequence_id IS NULL;
CREATE INDEX actions_by_sequence ON actions (workspace_id, sequence_id, at, id)
    WHERE sequence_id IS NOT NULL;
CREATE INDEX actions_by_time ON actions (workspace_id, at, id);

-- The records that an action was about.
CREATE TABLE action_nodes (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    node_id BLOB NOT NULL,
    action_id BLOB NOT NULL,
    PRIMARY KEY (workspace_id, node_id, action_id)
) STRICT;
