-- One tree and not two, as the audit is: who reports an action waits for a page less. Every index
-- holds the whole key, so none of them grows.
CREATE TABLE actions_anew (
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
) STRICT, WITHOUT ROWID;
INSERT INTO actions_anew SELECT * FROM actions ORDER BY workspace_id, id;
DROP TABLE actions;
ALTER TABLE actions_anew RENAME TO actions;
CREATE INDEX actions_ungrouped ON actions (workspace_id, session_id, at, id)
    WHERE sequence_id IS NULL;
CREATE INDEX actions_by_sequence ON actions (workspace_id, sequence_id, at, id)
    WHERE sequence_id IS NOT NULL;
CREATE INDEX actions_by_time ON actions (workspace_id, at, id) WHERE sequence_id IS NOT NULL;
CREATE INDEX actions_by_session ON actions (workspace_id, session_id, at, id)
    WHERE sequence_id IS NOT NULL;

-- Written beside every capture, so it is one tree as well.
CREATE TABLE action_nodes_anew (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    node_id BLOB NOT NULL,
    action_id BLOB NOT NULL,
    PRIMARY KEY (workspace_id, node_id, action_id)
) STRICT, WITHOUT ROWID;
INSERT INTO action_nodes_anew SELECT * FROM action_nodes ORDER BY workspace_id, node_id, action_id;
DROP TABLE action_nodes;
ALTER TABLE action_nodes_anew RENAME TO action_nodes;
