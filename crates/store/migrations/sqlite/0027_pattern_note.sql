-- Which user wrote what stands beside a pattern, so that it goes with them; and when they did.
ALTER TABLE patterns ADD COLUMN annotation_by TEXT;
ALTER TABLE patterns ADD COLUMN replacement_by TEXT;
ALTER TABLE patterns ADD COLUMN noted_at INTEGER;
