-- Secrets of a workspace, such as the key to its model: encrypted with a key that is not in here.
CREATE TABLE secrets (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    name text COLLATE "C" NOT NULL,
    audience text COLLATE "C" NOT NULL,
    master_key_id text COLLATE "C" NOT NULL,
    sealed bytea NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, name)
);
SELECT protect('secrets');
