-- Workspaces and tokens belong to the installation; every other table to one workspace.
-- Text compares by its bytes, as it does in the embedded store.

CREATE TABLE workspaces (
    id uuid NOT NULL PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    settings jsonb NOT NULL,
    revision bigint NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    deleted_at timestamptz
);
CREATE UNIQUE INDEX workspaces_by_name ON workspaces (name) WHERE deleted_at IS NULL;

CREATE TABLE tokens (
    id uuid NOT NULL PRIMARY KEY,
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    hash bytea NOT NULL UNIQUE,
    prefix text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    agent text COLLATE "C",
    user_name text COLLATE "C",
    operator boolean NOT NULL,
    profile text COLLATE "C",
    created_at timestamptz NOT NULL,
    revoked_at timestamptz
);
CREATE INDEX tokens_by_workspace ON tokens (workspace_id, id);

CREATE TABLE memories (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    channel text COLLATE "C" NOT NULL,
    domain text COLLATE "C",
    topic text COLLATE "C",
    content text COLLATE "C" NOT NULL,
    confidence double precision NOT NULL,
    weight double precision NOT NULL,
    source text COLLATE "C",
    source_ids jsonb NOT NULL,
    entities jsonb NOT NULL,
    temporal text COLLATE "C",
    valid_from timestamptz,
    valid_to timestamptz,
    superseded_by uuid,
    superseded_at timestamptz,
    access_count bigint NOT NULL,
    last_accessed timestamptz,
    times_referenced bigint NOT NULL,
    pinned boolean NOT NULL,
    created_by text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    deleted_at timestamptz,
    revision bigint NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX memories_by_successor ON memories (workspace_id, superseded_by)
    WHERE superseded_by IS NOT NULL;
CREATE INDEX memories_by_references ON memories (workspace_id, times_referenced)
    WHERE times_referenced > 0;

-- In parts, so that the nearest of one workspace are not looked for among those of all.
CREATE TABLE vectors (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    item_id uuid NOT NULL,
    model text COLLATE "C" NOT NULL,
    code bytea NOT NULL,
    vector vector NOT NULL,
    PRIMARY KEY (workspace_id, item_id, model)
) PARTITION BY HASH (workspace_id);
DO $$
BEGIN
    FOR part IN 0..15 LOOP
        EXECUTE format(
            'CREATE TABLE vectors_%s PARTITION OF vectors
             FOR VALUES WITH (MODULUS 16, REMAINDER %s)', part, part);
        -- Scanned all the time, so beside their keys if there is any room.
        EXECUTE format('ALTER TABLE vectors_%s ALTER vector SET STORAGE MAIN', part);
    END LOOP;
END $$;

-- A graph for each usual number of dimensions; others are scanned.
CREATE INDEX vectors_near_384 ON vectors
    USING hnsw ((vector::halfvec(384)) halfvec_cosine_ops) WHERE vector_dims(vector) = 384;
CREATE INDEX vectors_near_768 ON vectors
    USING hnsw ((vector::halfvec(768)) halfvec_cosine_ops) WHERE vector_dims(vector) = 768;
CREATE INDEX vectors_near_1024 ON vectors
    USING hnsw ((vector::halfvec(1024)) halfvec_cosine_ops) WHERE vector_dims(vector) = 1024;
CREATE INDEX vectors_near_1536 ON vectors
    USING hnsw ((vector::halfvec(1536)) halfvec_cosine_ops) WHERE vector_dims(vector) = 1536;
CREATE INDEX vectors_near_3072 ON vectors
    USING hnsw ((vector::halfvec(3072)) halfvec_cosine_ops) WHERE vector_dims(vector) = 3072;

CREATE TABLE edges (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    channel text COLLATE "C" NOT NULL,
    source_id uuid NOT NULL,
    target_id uuid NOT NULL,
    relation text COLLATE "C" NOT NULL,
    properties jsonb NOT NULL,
    valid_from timestamptz,
    valid_to timestamptz,
    recorded_at timestamptz NOT NULL,
    superseded_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX edges_by_source ON edges (workspace_id, source_id, relation);
CREATE INDEX edges_by_target ON edges (workspace_id, target_id, relation);

CREATE TABLE runs (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    run_id text COLLATE "C" NOT NULL,
    outcome text COLLATE "C",
    finished_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, run_id)
);

CREATE TABLE citations (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    run_id text COLLATE "C" NOT NULL,
    memory_id uuid NOT NULL,
    PRIMARY KEY (workspace_id, run_id, memory_id)
);
CREATE INDEX citations_by_memory ON citations (workspace_id, memory_id);

CREATE TABLE answers (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    key text COLLATE "C" NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    body jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, key)
);
CREATE INDEX answers_by_time ON answers (workspace_id, created_at);

-- What the embedded store keeps in its index: the words of what can be found, and who has each.
-- They follow the rows that they were made of, and go with their workspace.
CREATE TABLE word_documents (
    workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    item_id uuid NOT NULL,
    digest bytea NOT NULL,
    length integer NOT NULL,
    terms jsonb NOT NULL,
    PRIMARY KEY (workspace_id, item_id) INCLUDE (length)
);
-- How many documents a workspace has and how long they are together, so that no search counts them.
CREATE TABLE word_statistics (
    workspace_id uuid NOT NULL PRIMARY KEY REFERENCES workspaces (id) ON DELETE CASCADE,
    documents bigint NOT NULL,
    length bigint NOT NULL
);
CREATE TABLE word_postings (
    workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    term text COLLATE "C" NOT NULL,
    item_id uuid NOT NULL,
    frequency smallint NOT NULL,
    length integer NOT NULL,
    PRIMARY KEY (workspace_id, term, item_id) INCLUDE (frequency, length)
);

-- Row-level security, also for the owner. The scope is set for each transaction and is empty,
-- not NULL, after the first that had one. Rows of workspaces are never seen by the system's
-- scope, which has only what belongs to the installation.
DO $$
DECLARE
    own text := 'workspace_id = (SELECT nullif(current_setting(''app.ws'', true), '''')::uuid)';
    name text;
BEGIN
    FOR name IN
        SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p')
          AND c.relname NOT IN ('schema_migrations', 'workspaces', 'tokens')
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY own ON %I USING (%s) WITH CHECK (%s)', name, own, own);
    END LOOP;
END $$;

ALTER TABLE workspaces ENABLE ROW LEVEL SECURITY;
ALTER TABLE workspaces FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON workspaces
    USING (id = (SELECT nullif(current_setting('app.ws', true), '')::uuid));
CREATE POLICY system ON workspaces
    USING ((SELECT current_setting('app.scope', true)) = 'system');

ALTER TABLE tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE tokens FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON tokens
    USING (workspace_id = (SELECT nullif(current_setting('app.ws', true), '')::uuid));
CREATE POLICY system ON tokens
    USING ((SELECT current_setting('app.scope', true)) = 'system');
