-- Memories are weighed by their pieces, too, and get them with a new vector of the whole.
DELETE FROM vectors WHERE pieces IS NULL AND item_id IN (SELECT id FROM memories);
