-- Since when a call has been learned from. Calls outside of conversations teach nothing.
ALTER TABLE tool_invocations ADD COLUMN learned_at INTEGER;
CREATE INDEX tool_invocations_unlearned ON tool_invocations (workspace_id, conversation_id)
    WHERE learned_at IS NULL AND conversation_id IS NOT NULL;
CREATE INDEX strategies_by_channel ON strategies (workspace_id, channel) WHERE deleted_at IS NULL;
