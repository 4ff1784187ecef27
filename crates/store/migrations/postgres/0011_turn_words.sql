-- Words of turns beside those of memories. Each kind has its own statistics: what is common in talk
-- is not common in memories.
ALTER TABLE word_documents ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT 'memory';
ALTER TABLE word_documents ALTER COLUMN kind DROP DEFAULT;

ALTER TABLE word_postings ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT 'memory';
ALTER TABLE word_postings ALTER COLUMN kind DROP DEFAULT;
ALTER TABLE word_postings DROP CONSTRAINT word_postings_pkey;
ALTER TABLE word_postings ADD PRIMARY KEY (workspace_id, kind, term, item_id)
    INCLUDE (frequency, length);

ALTER TABLE word_statistics ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT 'memory';
ALTER TABLE word_statistics ALTER COLUMN kind DROP DEFAULT;
ALTER TABLE word_statistics DROP CONSTRAINT word_statistics_pkey;
ALTER TABLE word_statistics ADD PRIMARY KEY (workspace_id, kind);

ALTER TABLE word_terms ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT 'memory';
ALTER TABLE word_terms ALTER COLUMN kind DROP DEFAULT;
ALTER TABLE word_terms DROP CONSTRAINT word_terms_pkey;
ALTER TABLE word_terms ADD PRIMARY KEY (workspace_id, kind, term);
