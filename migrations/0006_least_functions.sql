-- Postgres lets every login store large objects and temporary tables, hold locks that any session may wait for, and write to
-- the log of changes. A process that only reads could fill the disk with them, or hold up migrations, the index and the
-- listing: rights to that have the owner and who needs them alone.
--
-- May run again: as an administrator where the login that migrates may not do the second part.

DO $$
BEGIN
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  -- Ponder copies rows that changed into temporary tables, and updates its own from those.
  EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO ptd_indexer', current_database());
END
$$;

-- Functions of Postgres belong to the superuser that made the cluster, and have rights of their own in each database.
DO $$
DECLARE
  called text;
BEGIN
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    RAISE WARNING 'all logins of database % may still store large objects and take advisory locks: a superuser can end that with migrations/0006_least_functions.sql', current_database();
    RETURN;
  END IF;
  FOR called IN
    SELECT oid::regprocedure FROM pg_proc
    WHERE pronamespace = 'pg_catalog'::regnamespace
      -- `lo_import` and `lo_export` are the superuser's from the start, and remain so.
      AND EXISTS (SELECT FROM aclexplode(coalesce(proacl, acldefault('f', proowner))) WHERE grantee = 0)
      AND (proname ~ '^(lo_|loread$|lowrite$|pg_(try_)?advisory_)'
        -- They write to the log of changes and to files, and end other sessions of the same login.
        OR proname IN ('pg_logical_emit_message', 'pg_export_snapshot', 'pg_cancel_backend', 'pg_terminate_backend'))
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', called);
    -- Whoever owns the database: it migrates, makes partitions as `history.keep_partitions`, and is backed up.
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO pg_database_owner', called);
  END LOOP;
  GRANT EXECUTE ON FUNCTION pg_cancel_backend, pg_terminate_backend TO pg_signal_backend;
  -- The right to write an index, and to remove cached logs: indexer/publication/schema-lock.ts.
  GRANT EXECUTE ON FUNCTION pg_try_advisory_lock(int, int), pg_try_advisory_xact_lock(int, int),
    pg_advisory_lock_shared(int, int), pg_advisory_unlock_shared(int, int) TO ptd_indexer;
  -- Kysely takes it while Ponder migrates its cached logs; and one listing is published at a time:
  -- capture/listing/refresh-listing.ts.
  GRANT EXECUTE ON FUNCTION pg_advisory_xact_lock(int8) TO ptd_indexer, ptd_capture;
END
$$;
