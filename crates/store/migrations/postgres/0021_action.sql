-- What agents did: types, outcomes and times, and never what they said or were given.
CREATE TABLE actions (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    agent_id text COLLATE "C" NOT NULL,
    action_type text COLLATE "C" NOT NULL,
    node_type text COLLATE "C",
    node_ids jsonb NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    error_code text COLLATE "C",
    latency_ms bigint,
    at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    sequence_id uuid,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX actions_ungrouped ON actions (workspace_id, session_id, at, id)
    WHERE sequence_id IS NULL;
CREATE INDEX actions_by_sequence ON actions (workspace_id, sequence_id, at, id)
    WHERE sequence_id IS NOT NULL;
CREATE INDEX actions_by_time ON actions (workspace_id, at, id);
SELECT protect('actions');

-- The records that an action was about.
CREATE TABLE action_nodes (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    node_id uuid NOT NULL,
    action_id uuid NOT NULL,
    PRIMARY KEY (workspace_id, node_id, action_id)
);
SELECT protect('action_nodes');
