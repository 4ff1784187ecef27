-- Whose tokens began a conversation and stored a turn, and whose words an episode stands for, so
-- that they can go with their user.
ALTER TABLE conversations ADD COLUMN user_name TEXT;
ALTER TABLE turns ADD COLUMN user_name TEXT;
ALTER TABLE episodes ADD COLUMN participants TEXT NOT NULL DEFAULT '[]';
