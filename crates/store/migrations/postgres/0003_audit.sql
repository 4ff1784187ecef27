-- What was done, by whom, and how it went: in days, so that the old ones go as a whole.
CREATE TABLE audit (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    at timestamptz NOT NULL,
    operation text COLLATE "C" NOT NULL,
    token_id uuid NOT NULL,
    role text COLLATE "C" NOT NULL,
    agent text COLLATE "C",
    user_name text COLLATE "C",
    session_id text COLLATE "C",
    conversation_id text COLLATE "C",
    channel text COLLATE "C",
    target_channels jsonb NOT NULL,
    domain text COLLATE "C",
    query text COLLATE "C",
    record_ids jsonb NOT NULL,
    records bigint NOT NULL,
    latency_us bigint NOT NULL,
    error text COLLATE "C",
    details jsonb,
    PRIMARY KEY (workspace_id, id, at)
) PARTITION BY RANGE (at);
CREATE INDEX audit_by_time ON audit USING brin (at);
-- Days that nobody has prepared.
CREATE TABLE audit_rest PARTITION OF audit DEFAULT;
SELECT protect('audit');
SELECT protect('audit_rest');

-- Servers own nothing, so these two do for them what takes an owner, and no more than that.
-- A day that has rows among the unprepared ones stays there.
CREATE FUNCTION audit_prepare(days integer) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT AS $$
DECLARE
    today date := (now() AT TIME ZONE 'UTC')::date;
    day date;
    part text;
BEGIN
    FOR ahead IN 0..least(days, 31) LOOP
        day := today + ahead;
        part := 'audit_' || to_char(day, 'YYYYMMDD');
        CONTINUE WHEN to_regclass(part) IS NOT NULL;
        BEGIN
            EXECUTE format('CREATE TABLE %I PARTITION OF audit FOR VALUES FROM (%L) TO (%L)', part,
                day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
            PERFORM protect(part::regclass);
        EXCEPTION WHEN check_violation OR duplicate_table THEN
            NULL;
        END;
    END LOOP;
END $$;

CREATE FUNCTION audit_drop(kept_from date) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT AS $$
DECLARE
    part text;
BEGIN
    FOR part IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'audit'::regclass AND c.relname ~ '^audit_[0-9]{8}$'
          AND c.relname < 'audit_' || to_char(least(kept_from, current_date), 'YYYYMMDD')
    LOOP
        EXECUTE format('DROP TABLE %I', part);
    END LOOP;
END $$;

SELECT audit_prepare(7);
