-- In which conversations a memory was recalled: what many talk about concerns all.
CREATE TABLE sightings (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    memory_id BLOB NOT NULL,
    conversation_id TEXT NOT NULL,
    PRIMARY KEY (workspace_id, memory_id, conversation_id)
) STRICT;
