-- The vectors of a text's pieces, one bit a dimension, where they are weighed. All vectors are made
-- anew with them: row-level security lets nobody pick those of turns.
ALTER TABLE vectors ADD COLUMN pieces bytea;
TRUNCATE vectors;
