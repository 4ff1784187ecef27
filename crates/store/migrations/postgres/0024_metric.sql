-- What a workspace measures. Those that are built in are stored once somebody has changed them.
-- `key` is the name as it is compared.
CREATE TABLE metrics (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    key text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    built_in boolean NOT NULL,
    event_filter jsonb NOT NULL,
    success_condition text COLLATE "C",
    aggregation text COLLATE "C" NOT NULL,
    window_days bigint NOT NULL,
    description text COLLATE "C",
    active boolean NOT NULL,
    created_by text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    revision bigint NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX metrics_by_key ON metrics (workspace_id, key);
SELECT protect('metrics');

-- What a metric came to on a day, counted from 1970-01-01 (UTC).
CREATE TABLE benchmarks (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    metric_id uuid NOT NULL,
    day bigint NOT NULL,
    value double precision,
    baseline_value double precision,
    delta_vs_baseline double precision,
    sample_count bigint NOT NULL,
    window_days bigint NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, metric_id, day)
);
CREATE INDEX benchmarks_by_day ON benchmarks (workspace_id, day);
SELECT protect('benchmarks');
