-- What happened to records, and when. Texts and domains are those of the records.
CREATE TABLE timeline (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    at timestamptz NOT NULL,
    item_id uuid NOT NULL,
    happening text COLLATE "C" NOT NULL,
    channel text COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace_id, at, item_id, happening)
);
CREATE INDEX timeline_by_item ON timeline (workspace_id, item_id);
CREATE INDEX timeline_by_channel ON timeline (workspace_id, channel, at, item_id, happening);
SELECT protect('timeline');

DO $$
DECLARE
    workspace uuid;
BEGIN
    PERFORM set_config('app.scope', 'system', true);
    FOR workspace IN SELECT id FROM workspaces LOOP
        PERFORM set_config('app.ws', workspace::text, true);
        INSERT INTO timeline (workspace_id, at, item_id, happening, channel)
        SELECT workspace_id, created_at, id, 'learned', channel FROM memories
        WHERE workspace_id = workspace
        UNION ALL
        SELECT workspace_id, superseded_at, id, 'superseded', channel FROM memories
        WHERE workspace_id = workspace AND superseded_at IS NOT NULL
        UNION ALL
        SELECT workspace_id, deleted_at, id, 'forgotten', channel FROM memories
        WHERE workspace_id = workspace AND deleted_at IS NOT NULL;
    END LOOP;
    PERFORM set_config('app.ws', '', true), set_config('app.scope', '', true);
END $$;
