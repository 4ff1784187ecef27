-- What was said. `key` orders conversations by when they were made.
CREATE TABLE conversations (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id text COLLATE "C" NOT NULL,
    key uuid NOT NULL,
    channel text COLLATE "C" NOT NULL,
    title text COLLATE "C",
    metadata jsonb NOT NULL,
    turns bigint NOT NULL,
    next_index bigint NOT NULL,
    created_by text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    archived_at timestamptz,
    revision bigint NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX conversations_by_key ON conversations (workspace_id, key);
SELECT protect('conversations');

-- A turn is put away with its conversation; it says so itself, so that no search must ask there.
CREATE TABLE turns (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    conversation_id text COLLATE "C" NOT NULL,
    channel text COLLATE "C" NOT NULL,
    place bigint NOT NULL,
    role text COLLATE "C" NOT NULL,
    speaker text COLLATE "C",
    content text COLLATE "C" NOT NULL,
    content_hash text COLLATE "C" NOT NULL,
    at timestamptz NOT NULL,
    token_count bigint,
    model text COLLATE "C",
    metadata jsonb NOT NULL,
    created_by text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    archived_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX turns_by_place ON turns (workspace_id, conversation_id, place);
CREATE INDEX turns_by_time ON turns (workspace_id, conversation_id, at);
CREATE INDEX turns_by_speaker ON turns (workspace_id, speaker);
SELECT protect('turns');

-- What old turns came to. The turns themselves are gone; their ids are a breadcrumb.
CREATE TABLE episodes (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    conversation_id text COLLATE "C" NOT NULL,
    channel text COLLATE "C" NOT NULL,
    summary text COLLATE "C" NOT NULL,
    summarizer text COLLATE "C" NOT NULL,
    turn_count bigint NOT NULL,
    source_turn_ids jsonb NOT NULL,
    first_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    deleted_at timestamptz,
    revision bigint NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX episodes_by_conversation ON episodes (workspace_id, conversation_id, id);
SELECT protect('episodes');
