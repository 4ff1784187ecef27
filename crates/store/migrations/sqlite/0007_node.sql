-- Nodes of the graph. Memories are nodes too, but stay in their own table.
CREATE TABLE nodes (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    type TEXT NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    aliases TEXT NOT NULL,
    channel TEXT NOT NULL,
    domain TEXT,
    description TEXT,
    properties TEXT NOT NULL,
    salience REAL NOT NULL,
    connection_id TEXT,
    first_seen INTEGER NOT NULL,
    last_accessed INTEGER,
    access_count INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    revision INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT;
CREATE INDEX nodes_by_connection ON nodes (workspace_id, connection_id)
    WHERE connection_id IS NOT NULL;

-- The names of live nodes, folded: a name is one node's alone within a channel, a type and a
-- domain, which is empty for nodes of none.
CREATE TABLE node_aliases (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    channel TEXT NOT NULL,
    type TEXT NOT NULL,
    alias_key TEXT NOT NULL,
    domain TEXT NOT NULL,
    alias TEXT NOT NULL,
    node_id BLOB NOT NULL,
    PRIMARY KEY (workspace_id, channel, type, alias_key, domain)
) STRICT;
CREATE INDEX node_aliases_by_key ON node_aliases (workspace_id, alias_key);
CREATE INDEX node_aliases_by_node ON node_aliases (workspace_id, node_id);

-- The stems of what live nodes are called and described by.
CREATE TABLE node_words (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    term TEXT NOT NULL,
    node_id BLOB NOT NULL,
    weight REAL NOT NULL,
    PRIMARY KEY (workspace_id, term, node_id)
) STRICT;
CREATE INDEX node_words_by_node ON node_words (workspace_id, node_id);

-- Two changes of an edge must not overwrite each other, and two ends have a relation once. The
-- edges of one record are read in a certain order, so that a limit cuts them at the same place.
ALTER TABLE edges ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
CREATE UNIQUE INDEX edges_live ON edges (workspace_id, source_id, relation, target_id)
    WHERE superseded_at IS NULL;
DROP INDEX edges_by_source;
DROP INDEX edges_by_target;
CREATE INDEX edges_by_source ON edges (workspace_id, source_id, relation, target_id, id);
CREATE INDEX edges_by_target ON edges (workspace_id, target_id, relation, source_id, id);
