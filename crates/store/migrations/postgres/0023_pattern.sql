-- What tends to happen when agents do something. An empty node type is none, an empty error code is
-- success. Shares are whole numbers: as mined last, and as they were when the pattern came to be.
CREATE TABLE patterns (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    action_type text COLLATE "C" NOT NULL,
    node_type text COLLATE "C" NOT NULL,
    error_code text COLLATE "C" NOT NULL,
    sample_count bigint NOT NULL,
    total_count bigint NOT NULL,
    promoted_samples bigint NOT NULL,
    promoted_total bigint NOT NULL,
    recommendation text COLLATE "C" NOT NULL,
    replacement text COLLATE "C",
    annotation text COLLATE "C",
    suppressed boolean NOT NULL,
    superseded_by uuid,
    last_seen_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    deleted_at timestamptz,
    revision bigint NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX patterns_live ON patterns (workspace_id, action_type, node_type, error_code)
    WHERE deleted_at IS NULL AND superseded_by IS NULL;
CREATE INDEX patterns_live_by_node_type ON patterns (workspace_id, node_type, sample_count)
    WHERE deleted_at IS NULL AND superseded_by IS NULL;
CREATE INDEX patterns_by_pair ON patterns (workspace_id, action_type, node_type, id)
    WHERE superseded_by IS NULL;
CREATE INDEX patterns_superseded ON patterns (workspace_id, superseded_by)
    WHERE superseded_by IS NOT NULL;
SELECT protect('patterns');

-- Warnings that a session was shown or, held out, would have been, until and after it is known
-- what came of them.
CREATE TABLE showings (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    pattern_id uuid NOT NULL,
    action_type text COLLATE "C" NOT NULL,
    node_type text COLLATE "C" NOT NULL,
    error_code text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    held_out boolean NOT NULL,
    at timestamptz NOT NULL,
    sequence_id uuid,
    avoided boolean,
    settled_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX showings_waiting
    ON showings (workspace_id, session_id, action_type, node_type, error_code)
    WHERE settled_at IS NULL;
CREATE INDEX showings_unsettled ON showings (workspace_id, id) WHERE settled_at IS NULL;
CREATE INDEX showings_by_key ON showings (workspace_id, action_type, node_type, error_code)
    WHERE avoided IS NOT NULL;
CREATE INDEX showings_by_time ON showings (workspace_id, at) WHERE avoided IS NOT NULL;
SELECT protect('showings');

-- The first day of the window that was mined last, by what was mined.
CREATE TABLE minings (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    subject text COLLATE "C" NOT NULL,
    since_day bigint NOT NULL,
    PRIMARY KEY (workspace_id, subject)
);
SELECT protect('minings');
