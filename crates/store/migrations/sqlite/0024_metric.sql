-- What a workspace measures. Those that are built in are stored once somebody has changed them.
-- `key` is the name as it is compared.
CREATE TABLE metrics (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    built_in INTEGER NOT NULL,
    event_filter TEXT NOT NULL,
    success_condition TEXT,
    aggregation TEXT NOT NULL,
    window_days INTEGER NOT NULL,
    description TEXT,
    active INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT;
CREATE UNIQUE INDEX metrics_by_key ON metrics (workspace_id, key);

-- What a metric came to on a day, counted from 1970-01-01 (UTC).
CREATE TABLE benchmarks (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    metric_id BLOB NOT NULL,
    day INTEGER NOT NULL,
    value REAL,
    baseline_value REAL,
    delta_vs_baseline REAL,
    sample_count INTEGER NOT NULL,
    window_days INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, metric_id, day)
) STRICT;
CREATE INDEX benchmarks_by_day ON benchmarks (workspace_id, day);
