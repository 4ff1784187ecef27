-- Who does which background work, and how it went the last time.
CREATE TABLE jobs (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    name text COLLATE "C" NOT NULL,
    epoch bigint NOT NULL,
    claimed_at timestamptz,
    lease_until timestamptz,
    started_at timestamptz,
    finished_at timestamptz,
    changed bigint NOT NULL,
    error text COLLATE "C",
    failures bigint NOT NULL,
    PRIMARY KEY (workspace_id, name)
);

-- What every table with rows of workspaces needs, for this migration and those to come.
CREATE FUNCTION protect(of regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    own text := 'workspace_id = (SELECT nullif(current_setting(''app.ws'', true), '''')::uuid)';
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', of);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', of);
    EXECUTE format('CREATE POLICY own ON %s USING (%s) WITH CHECK (%s)', of, own, own);
END $$;
SELECT protect('jobs');
