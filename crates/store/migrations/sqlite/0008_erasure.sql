-- What was erased and must not come back: digests, which give no text back. They are made with a
-- random key of the workspace, which it is given by its first erasure.
ALTER TABLE workspaces ADD COLUMN tombstone_key BLOB;

CREATE TABLE tombstones (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    kind TEXT NOT NULL,
    digest BLOB NOT NULL,
    erased_at INTEGER NOT NULL,
    erased_by BLOB NOT NULL,
    PRIMARY KEY (workspace_id, kind, digest)
) STRICT;

-- Whose tokens made a record, so that it can go with its user. Records name who made them, but
-- that may be an agent, which serves many.
CREATE TABLE owners (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    item_id BLOB NOT NULL,
    user_name TEXT NOT NULL,
    PRIMARY KEY (workspace_id, item_id)
) STRICT;
CREATE INDEX owners_by_user ON owners (workspace_id, user_name, item_id);

INSERT INTO owners (workspace_id, item_id, user_name)
SELECT m.workspace_id, m.id, m.created_by FROM memories m
WHERE EXISTS (SELECT 1 FROM tokens t
              WHERE t.workspace_id = m.workspace_id AND t.user_name = m.created_by
                AND t.agent IS NULL)
UNION ALL
SELECT n.workspace_id, n.id, n.created_by FROM nodes n
WHERE EXISTS (SELECT 1 FROM tokens t
              WHERE t.workspace_id = n.workspace_id AND t.user_name = n.created_by
                AND t.agent IS NULL);
