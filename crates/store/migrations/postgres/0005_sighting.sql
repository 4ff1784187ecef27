-- In which conversations a memory was recalled: what many talk about concerns all.
CREATE TABLE sightings (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    memory_id uuid NOT NULL,
    conversation_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace_id, memory_id, conversation_id)
);
SELECT protect('sightings');
