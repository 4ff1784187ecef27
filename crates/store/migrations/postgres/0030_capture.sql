-- An action that comes in is found by its session until it is grouped, and by the rest only then: who
-- reports it does not wait for what the grouping can do.
DROP INDEX actions_by_time;
DROP INDEX actions_by_session;
CREATE INDEX actions_by_time ON actions (workspace_id, at, id) WHERE sequence_id IS NOT NULL;
CREATE INDEX actions_by_session ON actions (workspace_id, session_id, at, id)
    WHERE sequence_id IS NOT NULL;
