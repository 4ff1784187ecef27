-- Contradictions that somebody is to decide. There is no text in it: memories are named by ids.
CREATE TABLE reviews (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    topic text COLLATE "C" NOT NULL,
    old_id uuid NOT NULL,
    new_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    decision text COLLATE "C",
    decided_at timestamptz,
    revision bigint NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX reviews_by_old ON reviews (workspace_id, old_id);
CREATE INDEX reviews_by_new ON reviews (workspace_id, new_id);
SELECT protect('reviews');
