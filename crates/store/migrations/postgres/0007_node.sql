-- Nodes of the graph. Memories are nodes too, but stay in their own table.
CREATE TABLE nodes (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    type text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    name_key text COLLATE "C" NOT NULL,
    aliases jsonb NOT NULL,
    channel text COLLATE "C" NOT NULL,
    domain text COLLATE "C",
    description text COLLATE "C",
    properties jsonb NOT NULL,
    salience double precision NOT NULL,
    connection_id text COLLATE "C",
    first_seen timestamptz NOT NULL,
    last_accessed timestamptz,
    access_count bigint NOT NULL,
    created_by text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    deleted_at timestamptz,
    revision bigint NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX nodes_by_connection ON nodes (workspace_id, connection_id)
    WHERE connection_id IS NOT NULL;
SELECT protect('nodes');

-- The names of live nodes, folded: a name is one node's alone within a channel, a type and a
-- domain, which is empty for nodes of none.
CREATE TABLE node_aliases (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    channel text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    alias_key text COLLATE "C" NOT NULL,
    domain text COLLATE "C" NOT NULL,
    alias text COLLATE "C" NOT NULL,
    node_id uuid NOT NULL,
    PRIMARY KEY (workspace_id, channel, type, alias_key, domain)
);
CREATE INDEX node_aliases_by_key ON node_aliases (workspace_id, alias_key);
CREATE INDEX node_aliases_by_node ON node_aliases (workspace_id, node_id);
SELECT protect('node_aliases');

-- The stems of what live nodes are called and described by.
CREATE TABLE node_words (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    term text COLLATE "C" NOT NULL,
    node_id uuid NOT NULL,
    weight double precision NOT NULL,
    PRIMARY KEY (workspace_id, term, node_id)
);
CREATE INDEX node_words_by_node ON node_words (workspace_id, node_id);
SELECT protect('node_words');

-- Two changes of an edge must not overwrite each other, and two ends have a relation once. The
-- edges of one record are read in a certain order, so that a limit cuts them at the same place.
ALTER TABLE edges ADD COLUMN revision bigint NOT NULL DEFAULT 1;
CREATE UNIQUE INDEX edges_live ON edges (workspace_id, source_id, relation, target_id)
    WHERE superseded_at IS NULL;
DROP INDEX edges_by_source;
DROP INDEX edges_by_target;
CREATE INDEX edges_by_source ON edges (workspace_id, source_id, relation, target_id, id);
CREATE INDEX edges_by_target ON edges (workspace_id, target_id, relation, source_id, id);
