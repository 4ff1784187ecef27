-- How users want to be served.
CREATE TABLE profiles (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    user_name text COLLATE "C" NOT NULL,
    id uuid NOT NULL,
    preferences jsonb NOT NULL,
    expertise jsonb NOT NULL,
    communication_style jsonb NOT NULL,
    metadata jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    revision bigint NOT NULL,
    PRIMARY KEY (workspace_id, user_name)
);
SELECT protect('profiles');
