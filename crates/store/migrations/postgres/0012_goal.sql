-- Goals. What they are a part of and what they wait for are edges.
CREATE TABLE goals (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    channel text COLLATE "C" NOT NULL,
    conversation_id text COLLATE "C",
    description text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    priority bigint NOT NULL,
    deadline timestamptz,
    result text COLLATE "C",
    created_by text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    finished_at timestamptz,
    revision bigint NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX goals_by_status ON goals (workspace_id, status, id);
CREATE INDEX goals_by_conversation ON goals (workspace_id, conversation_id, id)
    WHERE conversation_id IS NOT NULL;
SELECT protect('goals');
