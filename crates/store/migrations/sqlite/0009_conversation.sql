-- What was said. `key` orders conversations by when they were made.
CREATE TABLE conversations (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id TEXT NOT NULL,
    key BLOB NOT NULL,
    channel TEXT NOT NULL,
    title TEXT,
    metadata TEXT NOT NULL,
    turns INTEGER NOT NULL,
    next_index INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    archived_at INTEGER,
    revision INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT;
CREATE UNIQUE INDEX conversations_by_key ON conversations (workspace_id, key);

-- A turn is put away with its conversation; it says so itself, so that no search must ask there.
CREATE TABLE turns (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    conversation_id TEXT NOT NULL,
    channel TEXT NOT NULL,
    place INTEGER NOT NULL,
    role TEXT NOT NULL,
    speaker TEXT,
    content TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    at INTEGER NOT NULL,
    token_count INTEGER,
    model TEXT,
    metadata TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    archived_at INTEGER,
    PRIMARY KEY (workspace_id, id)
) STRICT;
CREATE UNIQUE INDEX turns_by_place ON turns (workspace_id, conversation_id, place);
CREATE INDEX turns_by_time ON turns (workspace_id, conversation_id, at);
CREATE INDEX turns_by_speaker ON turns (workspace_id, speaker);

-- What old turns came to. The turns themselves are gone; their ids are a breadcrumb.
CREATE TABLE episodes (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    conversation_id TEXT NOT NULL,
    channel TEXT NOT NULL,
    summary TEXT NOT NULL,
    summarizer TEXT NOT NULL,
    turn_count INTEGER NOT NULL,
    source_turn_ids TEXT NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    deleted_at INTEGER,
    revision INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT;
CREATE INDEX episodes_by_conversation ON episodes (workspace_id, conversation_id, id);
