-- What happened to records, and when. Texts and domains are those of the records.
CREATE TABLE timeline (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    at INTEGER NOT NULL,
    item_id BLOB NOT NULL,
    happening TEXT NOT NULL,
    channel TEXT NOT NULL,
    PRIMARY KEY (workspace_id, at, item_id, happening)
) STRICT;
CREATE INDEX timeline_by_item ON timeline (workspace_id, item_id);
CREATE INDEX timeline_by_channel ON timeline (workspace_id, channel, at, item_id, happening);

INSERT INTO timeline (workspace_id, at, item_id, happening, channel)
SELECT workspace_id, created_at, id, 'learned', channel FROM memories
UNION ALL
SELECT workspace_id, superseded_at, id, 'superseded', channel FROM memories
WHERE superseded_at IS NOT NULL
UNION ALL
SELECT workspace_id, deleted_at, id, 'forgotten', channel FROM memories
WHERE deleted_at IS NOT NULL;
