-- What tends to happen when agents do something. An empty node type is none, an empty error code is
-- success. Shares are whole numbers: as mined last, and as they were when the pattern came to be.
CREATE TABLE patterns (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    action_type TEXT NOT NULL,
    node_type TEXT NOT NULL,
    error_code TEXT NOT NULL,
    sample_count INTEGER NOT NULL,
    total_count INTEGER NOT NULL,
    promoted_samples INTEGER NOT NULL,
    promoted_total INTEGER NOT NULL,
    recommendation TEXT NOT NULL,
    replacement TEXT,
    annotation TEXT,
    suppressed INTEGER NOT NULL,
    superseded_by BLOB,
    last_seen_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    revision INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT;
CREATE UNIQUE INDEX patterns_live ON patterns (workspace_id, action_type, node_type, error_code)
    WHERE deleted_at IS NULL AND superseded_by IS NULL;
CREATE INDEX patterns_live_by_node_type ON patterns (workspace_id, node_type, sample_count)
    WHERE deleted_at IS NULL AND superseded_by IS NULL;
CREATE INDEX patterns_by_pair ON patterns (workspace_id, action_type, node_type, id)
    WHERE superseded_by IS NULL;
CREATE INDEX patterns_superseded ON patterns (workspace_id, superseded_by)
    WHERE superseded_by IS NOT NULL;

-- Warnings that a session was shown or, held out, would have been, until and after it is known
-- what came of them.
CREATE TABLE showings (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    pattern_id BLOB NOT NULL,
    action_type TEXT NOT NULL,
    node_type TEXT NOT NULL,
    error_code TEXT NOT NULL,
    session_id TEXT NOT NULL,
    held_out INTEGER NOT NULL,
    at INTEGER NOT NULL,
    sequence_id BLOB,
    avoided INTEGER,
    settled_at INTEGER,
    PRIMARY KEY (workspace_id, id)
) STRICT;
CREATE UNIQUE INDEX showings_waiting
    ON showings (workspace_id, session_id, action_type, node_type, error_code)
    WHERE settled_at IS NULL;
CREATE INDEX showings_unsettled ON showings (workspace_id, id) WHERE settled_at IS NULL;
CREATE INDEX showings_by_key ON showings (workspace_id, action_type, node_type, error_code)
    WHERE avoided IS NOT NULL;
CREATE INDEX showings_by_time ON showings (workspace_id, at) WHERE avoided IS NOT NULL;

-- The first day of the window that was mined last, by what was mined.
CREATE TABLE minings (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    subject TEXT NOT NULL,
    since_day INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, subject)
) STRICT;
