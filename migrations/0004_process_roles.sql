-- A group role for each process: whatever login a process has, it acts as its group (db/process-roles.ts), with these rights
-- alone. A login that is a member of one group can become nothing else.
--
-- Needs a login that owns the database and has CREATEROLE, or of whom another made the groups and granted it each of them.
DO $$
DECLARE
  role text;
BEGIN
  FOREACH role IN ARRAY ARRAY['ptd_indexer', 'ptd_capture', 'ptd_api', 'ptd_builders', 'ptd_operator'] LOOP
    BEGIN
      IF to_regrole(role) IS NULL THEN EXECUTE format('CREATE ROLE %I NOLOGIN', role); END IF;
    EXCEPTION
      -- Roles belong to the whole server: another database of it may have made this one in this very moment.
      WHEN duplicate_object OR unique_violation THEN RAISE NOTICE 'role % exists', role;
    END;
    -- Whoever makes a role may administer it, but not act as it. Then processes with this login go on as before.
    IF NOT pg_has_role(role, 'SET') OR NOT pg_has_role(role, 'USAGE') THEN
      EXECUTE format('GRANT %I TO CURRENT_USER WITH INHERIT TRUE, SET TRUE', role);
    END IF;
  END LOOP;
  -- A backfill is a command of the operator and work of the indexer.
  BEGIN
    IF NOT pg_has_role('ptd_operator', 'ptd_indexer', 'SET') THEN
      GRANT ptd_indexer TO ptd_operator WITH INHERIT FALSE, SET TRUE;
    END IF;
  EXCEPTION
    WHEN unique_violation THEN RAISE NOTICE 'ptd_operator may act as ptd_indexer';
  END;
END
$$;

GRANT USAGE ON SCHEMA operator TO ptd_indexer, ptd_capture, ptd_api, ptd_builders, ptd_operator;
GRANT USAGE ON SCHEMA read_model TO ptd_indexer, ptd_capture, ptd_api, ptd_operator;

-- The index: functions of `read_model` read `live` as the reader, and the indexer checks their views before it turns `live`.
GRANT SELECT ON read_model.token, read_model.pool, read_model.pool_state, read_model.pool_bin, read_model.pool_extension,
  read_model.stop_loss, read_model.price_velocity, read_model.allowlist, read_model.price_provider, read_model.swap,
  read_model.bin_swap, read_model.liquidity_change, read_model.fee_collection, read_model.pool_activity,
  read_model.indexed_block
  TO ptd_indexer, ptd_capture, ptd_api, ptd_operator;

GRANT SELECT, INSERT, UPDATE, DELETE ON operator.backfill TO ptd_indexer;

GRANT SELECT, INSERT, UPDATE, DELETE ON operator.price_health, operator.pool_storage, operator.fiat_price,
  operator.pool_classification, operator.listing_window, operator.listing_source, operator.listing_price,
  operator.listed_pool, operator.pool_listing TO ptd_capture;
GRANT SELECT, INSERT, UPDATE ON operator.layout_calibration TO ptd_capture, ptd_operator;
GRANT SELECT ON operator.curator, operator.delisted_pool TO ptd_capture;

GRANT SELECT ON operator.price_health, operator.listing_window, operator.listing_price, operator.listed_pool,
  operator.pool_listing, operator.pool_classification, operator.layout_calibration, operator.delisted_pool TO ptd_api;

-- Old rows are locked before they are deleted, which takes the right to update a column.
GRANT SELECT, INSERT, DELETE, UPDATE (received_at) ON operator.pamm_submission, operator.pamm_answer TO ptd_builders;

GRANT SELECT, INSERT, UPDATE, DELETE ON operator.curator, operator.delisted_pool TO ptd_operator;
GRANT SELECT, INSERT, UPDATE ON operator.api_key TO ptd_operator;
GRANT SELECT ON operator.price_health, operator.listing_window, operator.pool_listing TO ptd_operator;

-- All that the API learns of keys: whether the one with this hash, or with this visible part, is in use. They are volatile to
-- see what was committed while they waited for the table.

-- The visible part of the first key of the line that rotations made; null when the key is unknown or has ended.
CREATE FUNCTION operator.holder_of_key(hash bytea) RETURNS text
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  WITH RECURSIVE line AS (
    SELECT key_id, replaces FROM operator.api_key
    WHERE key_hash = hash AND (revoked_at IS NULL OR revoked_at > now())
    UNION
    SELECT earlier.key_id, earlier.replaces FROM line JOIN operator.api_key earlier ON earlier.key_id = line.replaces
  )
  SELECT key_id FROM line WHERE replaces IS NULL
$$;

CREATE FUNCTION operator.keys_in_use(key_ids text[]) RETURNS SETOF text
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT key_id FROM operator.api_key
  WHERE key_id = ANY(key_ids) AND (revoked_at IS NULL OR revoked_at > now())
$$;

REVOKE EXECUTE ON FUNCTION operator.holder_of_key, operator.keys_in_use FROM PUBLIC;
GRANT EXECUTE ON FUNCTION operator.holder_of_key, operator.keys_in_use TO ptd_api;

-- The indexer makes schemas and views as it runs: they are readable from the moment that it makes them. Capture notices
-- changes by the `xmin` of rows, which views do not show.
ALTER DEFAULT PRIVILEGES FOR ROLE ptd_indexer IN SCHEMA live GRANT SELECT ON TABLES TO analyst, ptd_api, ptd_operator;
ALTER DEFAULT PRIVILEGES FOR ROLE ptd_indexer GRANT USAGE ON SCHEMAS TO ptd_capture;
ALTER DEFAULT PRIVILEGES FOR ROLE ptd_indexer GRANT SELECT ON TABLES TO ptd_capture;

-- What one login made so far becomes the indexer's. Readers and the indexer are not held up: all locks are let go of when one
-- is not free, as by serveSchema (indexer/publication/live-views.ts).
DO $$
DECLARE
  statement text;
BEGIN
  EXECUTE format('GRANT CREATE ON DATABASE %I TO ptd_indexer', current_database());
  SET LOCAL lock_timeout = '300ms';
  FOR attempt IN 1..100 LOOP
    BEGIN
      FOR statement IN
        WITH home AS (
          SELECT oid, nspname FROM pg_namespace
          WHERE nspname IN ('live', 'ponder_sync') OR oid IN (SELECT relnamespace FROM pg_class WHERE relname = '_ponder_meta')
        )
        SELECT format('ALTER SCHEMA %I OWNER TO ptd_indexer', nspname) FROM home
        UNION ALL
        SELECT format('ALTER TABLE %s OWNER TO ptd_indexer', c.oid::regclass) FROM pg_class c JOIN home ON home.oid = relnamespace
        -- A sequence of a column goes with its table.
        WHERE relkind IN ('r', 'p', 'v') OR (relkind = 'S' AND NOT EXISTS (
          SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype IN ('a', 'i')))
        UNION ALL
        SELECT format('ALTER ROUTINE %s OWNER TO ptd_indexer', p.oid::regprocedure)
        FROM pg_proc p JOIN home ON home.oid = pronamespace
        UNION ALL
        SELECT format('ALTER TYPE %s OWNER TO ptd_indexer', format_type(t.oid, NULL))
        FROM pg_type t JOIN home ON home.oid = typnamespace WHERE typtype = 'e'
        UNION ALL
        SELECT format('GRANT USAGE ON SCHEMA %1$I TO ptd_capture; GRANT SELECT ON ALL TABLES IN SCHEMA %1$I TO ptd_capture', nspname)
        FROM home
      LOOP
        EXECUTE statement;
      END LOOP;
      EXIT;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      IF attempt = 100 THEN RAISE; END IF;
      PERFORM pg_sleep(0.1 * random());
    END;
  END LOOP;
END
$$;
GRANT USAGE ON SCHEMA live TO ptd_api, ptd_operator;
GRANT SELECT ON ALL TABLES IN SCHEMA live TO ptd_api, ptd_operator;
