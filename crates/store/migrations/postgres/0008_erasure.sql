-- What was erased and must not come back: digests, which give no text back. They are made with a
-- random key of the workspace, which it is given by its first erasure.
ALTER TABLE workspaces ADD COLUMN tombstone_key bytea;

CREATE TABLE tombstones (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    kind text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    erased_at timestamptz NOT NULL,
    erased_by uuid NOT NULL,
    PRIMARY KEY (workspace_id, kind, digest)
);
SELECT protect('tombstones');

-- Whose tokens made a record, so that it can go with its user. Records name who made them, but
-- that may be an agent, which serves many.
CREATE TABLE owners (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    item_id uuid NOT NULL,
    user_name text COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace_id, item_id)
);
CREATE INDEX owners_by_user ON owners (workspace_id, user_name, item_id);
SELECT protect('owners');

DO $$
DECLARE
    workspace uuid;
BEGIN
    PERFORM set_config('app.scope', 'system', true);
    FOR workspace IN SELECT id FROM workspaces LOOP
        PERFORM set_config('app.ws', workspace::text, true);
        INSERT INTO owners (workspace_id, item_id, user_name)
        SELECT made.workspace_id, made.id, made.created_by
        FROM (SELECT workspace_id, id, created_by FROM memories
              UNION ALL SELECT workspace_id, id, created_by FROM nodes) made
        WHERE made.workspace_id = workspace
          AND EXISTS (SELECT 1 FROM tokens t
                      WHERE t.workspace_id = workspace AND t.user_name = made.created_by
                        AND t.agent IS NULL);
    END LOOP;
    PERFORM set_config('app.ws', '', true), set_config('app.scope', '', true);
END $$;
