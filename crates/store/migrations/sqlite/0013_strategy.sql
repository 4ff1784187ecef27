-- Ways of doing something, and how often they worked. `key` is a digest of what tells one from
-- all others.
CREATE TABLE strategies (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    key TEXT NOT NULL,
    channel TEXT NOT NULL,
    domain TEXT,
    description TEXT NOT NULL,
    context_pattern TEXT,
    tool_sequence TEXT NOT NULL,
    success_count INTEGER NOT NULL,
    failure_count INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    deleted_at INTEGER,
    revision INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT;
CREATE UNIQUE INDEX strategies_live ON strategies (workspace_id, key) WHERE deleted_at IS NULL;

-- The stems of what live strategies are described by.
CREATE TABLE strategy_words (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    term TEXT NOT NULL,
    strategy_id BLOB NOT NULL,
    weight REAL NOT NULL,
    PRIMARY KEY (workspace_id, term, strategy_id)
) STRICT;
CREATE INDEX strategy_words_by_strategy ON strategy_words (workspace_id, strategy_id);
