-- What was done in one session, and a benchmark by its own id.
CREATE INDEX actions_by_session ON actions (workspace_id, session_id, at, id);
CREATE INDEX benchmarks_by_id ON benchmarks (workspace_id, id);
