-- Tables whose rows a backup has. Not `listing_source`: it recognises rows by when this server wrote them, so capture lists
-- every pool again after a restore.
SELECT c.oid::regclass::text AS name, string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS columns,
  -- Made by migrations; the other tables are the indexer's own.
  nspname IN ('operator', 'history') AS "isMigrated",
  -- Makes the partition of a table of `history`.
  (SELECT format('CREATE TABLE %s PARTITION OF %s %s', c.oid::regclass, inhparent::regclass, pg_get_expr(relpartbound, c.oid))
    FROM pg_inherits WHERE inhrelid = c.oid) AS partition
FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped
WHERE relkind = 'r' AND (nspname IN ('operator', 'history', 'ponder_sync')
  OR n.oid IN (SELECT relnamespace FROM pg_class WHERE relname = '_ponder_meta' AND relkind = 'r'))
  AND NOT (nspname = 'operator' AND relname IN ('migration', 'listing_source'))
GROUP BY c.oid, nspname ORDER BY 1
