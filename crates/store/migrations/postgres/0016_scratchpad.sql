-- What agents keep for themselves.
CREATE TABLE scratchpads (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    agent text COLLATE "C" NOT NULL,
    id uuid NOT NULL,
    content text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    revision bigint NOT NULL,
    PRIMARY KEY (workspace_id, agent)
);
CREATE UNIQUE INDEX scratchpads_by_id ON scratchpads (workspace_id, id);
SELECT protect('scratchpads');
