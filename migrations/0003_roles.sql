-- `analyst` may read the read model, and nothing else of the operator's tables. It cannot log in by itself: grant it to
-- a login role.

DO $$
BEGIN
  CREATE ROLE analyst NOLOGIN;
EXCEPTION
  -- Roles belong to the whole server: another database of it may have made this one, perhaps in this very moment.
  WHEN duplicate_object OR unique_violation THEN RAISE NOTICE 'role analyst exists';
END
$$;

GRANT USAGE ON SCHEMA read_model, live TO analyst;
GRANT SELECT ON ALL TABLES IN SCHEMA read_model, live TO analyst;
ALTER DEFAULT PRIVILEGES IN SCHEMA read_model GRANT SELECT ON TABLES TO analyst;
-- The functions under the views run as the reader, and the views of `live` are made anew with every index. This covers
-- views made by the role that runs this migration: run the indexer as the same role.
ALTER DEFAULT PRIVILEGES IN SCHEMA live GRANT SELECT ON TABLES TO analyst;
