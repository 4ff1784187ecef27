-- The vectors of a text's pieces, one bit a dimension, where they are weighed. Turns get theirs with a
-- new vector of the whole.
ALTER TABLE vectors ADD COLUMN pieces BLOB;
DELETE FROM vectors WHERE item_id IN (SELECT id FROM turns);
