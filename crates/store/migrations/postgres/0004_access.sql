-- The borders inside a workspace. Grants are part of it, so that they come with the token.
ALTER TABLE workspaces ADD COLUMN grants jsonb NOT NULL DEFAULT '[]';

CREATE TABLE domains (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    name text COLLATE "C" NOT NULL,
    description text COLLATE "C",
    created_by text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, name)
);
SELECT protect('domains');

CREATE TABLE policies (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    rule text COLLATE "C" NOT NULL,
    domain text COLLATE "C" NOT NULL,
    source_fact_ids jsonb NOT NULL,
    required_role text COLLATE "C",
    active boolean NOT NULL,
    created_by text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    revision bigint NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX policies_by_domain ON policies (workspace_id, domain);
SELECT protect('policies');
