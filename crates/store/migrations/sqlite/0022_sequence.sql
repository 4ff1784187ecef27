-- Actions of one session with no gap of more than five minutes between them. `counted_day` is the
-- day whose counts a closed one is part of.
CREATE TABLE sequences (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    session_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    last_action_id BLOB NOT NULL,
    action_count INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    intent_id BLOB,
    closed_at INTEGER,
    counted_day INTEGER,
    revision INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT;
CREATE INDEX sequences_by_session ON sequences (workspace_id, session_id, last_at);
CREATE INDEX sequences_open ON sequences (workspace_id, last_at) WHERE closed_at IS NULL;
CREATE INDEX sequences_by_last ON sequences (workspace_id, last_at, id);
CREATE INDEX sequences_by_first ON sequences (workspace_id, first_at, id);
CREATE INDEX sequences_by_intent ON sequences (workspace_id, intent_id, last_at)
    WHERE intent_id IS NOT NULL;

-- What a sequence has: an empty node type is none, an empty error code is success.
CREATE TABLE sequence_keys (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    sequence_id BLOB NOT NULL,
    action_type TEXT NOT NULL,
    node_type TEXT NOT NULL,
    error_code TEXT NOT NULL,
    PRIMARY KEY (workspace_id, sequence_id, action_type, node_type, error_code)
) STRICT;

-- What sequences were about, in types alone. Those that read the same share one.
CREATE TABLE intents (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    key TEXT NOT NULL,
    text TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT;
CREATE UNIQUE INDEX intents_by_key ON intents (workspace_id, key);

-- The stems of what intents read.
CREATE TABLE intent_words (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    term TEXT NOT NULL,
    intent_id BLOB NOT NULL,
    weight REAL NOT NULL,
    PRIMARY KEY (workspace_id, term, intent_id)
) STRICT;

-- Closed sequences by the day of their last action: those with an action type and node type, …
CREATE TABLE action_counts (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    action_type TEXT NOT NULL,
    node_type TEXT NOT NULL,
    day INTEGER NOT NULL,
    sequences INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, action_type, node_type, day)
) STRICT;
CREATE INDEX action_counts_by_day ON action_counts (workspace_id, day);

-- … and those of them with one outcome of it.
CREATE TABLE key_counts (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    action_type TEXT NOT NULL,
    node_type TEXT NOT NULL,
    error_code TEXT NOT NULL,
    day INTEGER NOT NULL,
    sequences INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, action_type, node_type, error_code, day)
) STRICT;

-- Whose counts have changed since patterns were looked for.
CREATE TABLE unmined (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    action_type TEXT NOT NULL,
    node_type TEXT NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, action_type, node_type)
) STRICT;
