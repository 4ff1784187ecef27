-- How many documents have each term, so that no search counts them. It follows the lists of words,
-- and goes with its workspace. The rows of common terms change with every batch: with room on their
-- pages, and the number in no index, that leaves no trace outside of them.
CREATE TABLE word_terms (
    workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    term text COLLATE "C" NOT NULL,
    documents bigint NOT NULL,
    PRIMARY KEY (workspace_id, term)
) WITH (fillfactor = 70);
SELECT protect('word_terms');

-- What is listed already is counted, one workspace at a time: policies hold for the owner, too.
DO $$
DECLARE
    workspace uuid;
BEGIN
    PERFORM set_config('app.scope', 'system', true);
    FOR workspace IN SELECT id FROM workspaces LOOP
        PERFORM set_config('app.ws', workspace::text, true);
        INSERT INTO word_terms (workspace_id, term, documents)
        SELECT workspace_id, term, count(*) FROM word_postings
        WHERE workspace_id = workspace GROUP BY workspace_id, term;
    END LOOP;
    PERFORM set_config('app.ws', '', true), set_config('app.scope', '', true);
END $$;
