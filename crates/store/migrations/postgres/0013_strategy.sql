-- Ways of doing something, and how often they worked. `key` is a digest of what tells one from
-- all others.
CREATE TABLE strategies (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    key text COLLATE "C" NOT NULL,
    channel text COLLATE "C" NOT NULL,
    domain text COLLATE "C",
    description text COLLATE "C" NOT NULL,
    context_pattern text COLLATE "C",
    tool_sequence jsonb NOT NULL,
    success_count bigint NOT NULL,
    failure_count bigint NOT NULL,
    created_by text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    last_used_at timestamptz NOT NULL,
    deleted_at timestamptz,
    revision bigint NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX strategies_live ON strategies (workspace_id, key) WHERE deleted_at IS NULL;
SELECT protect('strategies');

-- The stems of what live strategies are described by.
CREATE TABLE strategy_words (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    term text COLLATE "C" NOT NULL,
    strategy_id uuid NOT NULL,
    weight double precision NOT NULL,
    PRIMARY KEY (workspace_id, term, strategy_id)
);
CREATE INDEX strategy_words_by_strategy ON strategy_words (workspace_id, strategy_id);
SELECT protect('strategy_words');
