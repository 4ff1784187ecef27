-- Since when a turn has been learned from, and until when a value has faded.
ALTER TABLE turns ADD COLUMN learned_at INTEGER;
CREATE INDEX turns_unlearned ON turns (workspace_id, conversation_id, place)
    WHERE learned_at IS NULL;
ALTER TABLE nodes ADD COLUMN decayed_at INTEGER;
ALTER TABLE memories ADD COLUMN decayed_at INTEGER;
