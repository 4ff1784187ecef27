-- Calls of tools, and their figures, which each call moves.
CREATE TABLE tool_invocations (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    tool text COLLATE "C" NOT NULL,
    success boolean NOT NULL,
    latency_ms bigint,
    error text COLLATE "C",
    input jsonb,
    output jsonb,
    conversation_id text COLLATE "C",
    created_by text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX tool_invocations_by_conversation ON tool_invocations (workspace_id, conversation_id)
    WHERE conversation_id IS NOT NULL;
SELECT protect('tool_invocations');

CREATE TABLE tools (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    tool text COLLATE "C" NOT NULL,
    usage_count bigint NOT NULL,
    success_count bigint NOT NULL,
    timed_count bigint NOT NULL,
    latency_ms_sum bigint NOT NULL,
    last_used_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, tool)
);
SELECT protect('tools');
