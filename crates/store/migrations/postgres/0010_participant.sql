-- Whose tokens began a conversation and stored a turn, and whose words an episode stands for, so
-- that they can go with their user.
ALTER TABLE conversations ADD COLUMN user_name text COLLATE "C";
ALTER TABLE turns ADD COLUMN user_name text COLLATE "C";
ALTER TABLE episodes ADD COLUMN participants jsonb NOT NULL DEFAULT '[]';
