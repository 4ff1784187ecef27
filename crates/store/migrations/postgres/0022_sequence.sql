-- Actions of one session with no gap of more than five minutes between them. `counted_day` is the
-- day whose counts a closed one is part of.
CREATE TABLE sequences (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    agent_id text COLLATE "C" NOT NULL,
    first_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL,
    last_action_id uuid NOT NULL,
    action_count bigint NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    intent_id uuid,
    closed_at timestamptz,
    counted_day bigint,
    revision bigint NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX sequences_by_session ON sequences (workspace_id, session_id, last_at);
CREATE INDEX sequences_open ON sequences (workspace_id, last_at) WHERE closed_at IS NULL;
CREATE INDEX sequences_by_last ON sequences (workspace_id, last_at, id);
CREATE INDEX sequences_by_first ON sequences (workspace_id, first_at, id);
CREATE INDEX sequences_by_intent ON sequences (workspace_id, intent_id, last_at)
    WHERE intent_id IS NOT NULL;
SELECT protect('sequences');

-- What a sequence has: an empty node type is none, an empty error code is success.
CREATE TABLE sequence_keys (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    sequence_id uuid NOT NULL,
    action_type text COLLATE "C" NOT NULL,
    node_type text COLLATE "C" NOT NULL,
    error_code text COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace_id, sequence_id, action_type, node_type, error_code)
);
SELECT protect('sequence_keys');

-- What sequences were about, in types alone. Those that read the same share one.
CREATE TABLE intents (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    key text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX intents_by_key ON intents (workspace_id, key);
SELECT protect('intents');

-- The stems of what intents read.
CREATE TABLE intent_words (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    term text COLLATE "C" NOT NULL,
    intent_id uuid NOT NULL,
    weight double precision NOT NULL,
    PRIMARY KEY (workspace_id, term, intent_id)
);
SELECT protect('intent_words');

-- Closed sequences by the day of their last action: those with an action type and node type, …
CREATE TABLE action_counts (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    action_type text COLLATE "C" NOT NULL,
    node_type text COLLATE "C" NOT NULL,
    day bigint NOT NULL,
    sequences bigint NOT NULL,
    PRIMARY KEY (workspace_id, action_type, node_type, day)
);
CREATE INDEX action_counts_by_day ON action_counts (workspace_id, day);
SELECT protect('action_counts');

-- … and those of them with one outcome of it.
CREATE TABLE key_counts (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    action_type text COLLATE "C" NOT NULL,
    node_type text COLLATE "C" NOT NULL,
    error_code text COLLATE "C" NOT NULL,
    day bigint NOT NULL,
    sequences bigint NOT NULL,
    last_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, action_type, node_type, error_code, day)
);
SELECT protect('key_counts');

-- Whose counts have changed since patterns were looked for.
CREATE TABLE unmined (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    action_type text COLLATE "C" NOT NULL,
    node_type text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    PRIMARY KEY (workspace_id, action_type, node_type)
);
SELECT protect('unmined');
