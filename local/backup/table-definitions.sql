-- Statements that make the schemas of the indexer and the views of `live`, by when they run. Ponder makes triggers again when
-- it starts.
WITH home AS (
  SELECT oid, nspname FROM pg_namespace
  WHERE nspname = 'ponder_sync' OR oid IN (SELECT relnamespace FROM pg_class WHERE relname = '_ponder_meta' AND relkind = 'r')
), relation AS (
  SELECT c.oid, c.relkind, c.reloptions FROM pg_class c JOIN home ON home.oid = c.relnamespace
), field AS (
  SELECT a.attrelid, a.attnum, concat_ws(' ', quote_ident(a.attname), format_type(a.atttypid, a.atttypmod),
    CASE WHEN a.attidentity = 'a' THEN 'GENERATED ALWAYS AS IDENTITY' WHEN d.oid IS NOT NULL
      THEN 'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) END,
    CASE WHEN a.attnotnull THEN 'NOT NULL' END) AS definition
  FROM pg_attribute a LEFT JOIN pg_attrdef d ON (d.adrelid, d.adnum) = (a.attrelid, a.attnum)
  WHERE a.attnum > 0 AND NOT a.attisdropped
), statement AS (
  SELECT 'before rows' AS time, 1 AS place, format('CREATE SCHEMA %I', nspname) AS text FROM home
  UNION ALL
  SELECT 'before rows', 2, format('CREATE SEQUENCE %s AS %s START %s INCREMENT %s', oid::regclass, seqtypid::regtype, seqstart, seqincrement)
  FROM pg_sequence JOIN relation ON oid = seqrelid
  WHERE NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = seqrelid AND deptype = 'i')
  UNION ALL
  SELECT 'before rows', 3, format(E'CREATE TABLE %s (\n  %s\n)%s', r.oid::regclass, string_agg(f.definition, E',\n  ' ORDER BY f.attnum),
    ' WITH (' || array_to_string(r.reloptions, ', ') || ')')
  FROM relation r JOIN field f ON f.attrelid = r.oid WHERE r.relkind = 'r' GROUP BY r.oid, r.reloptions
  UNION ALL
  SELECT 'after rows', 1, format('SELECT setval(%L, %s)', seqrelid::regclass, pg_sequence_last_value(seqrelid))
  FROM pg_sequence JOIN relation ON oid = seqrelid WHERE pg_sequence_last_value(seqrelid) IS NOT NULL
  UNION ALL
  SELECT 'after rows', 2, format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(c.oid))
  FROM pg_constraint c JOIN relation r ON r.oid = c.conrelid WHERE contype <> 'n'
  UNION ALL
  SELECT 'after rows', 3, pg_get_indexdef(indexrelid) FROM pg_index JOIN relation r ON r.oid = indrelid
  WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
  UNION ALL
  SELECT 'after rows', 4, pg_get_functiondef(p.oid) FROM pg_proc p JOIN home ON home.oid = pronamespace
  UNION ALL
  SELECT 'after rows', 5, format('CREATE VIEW %s AS %s', oid::regclass, pg_get_viewdef(oid))
  FROM pg_class WHERE relnamespace = to_regnamespace('live') AND relkind = 'v'
  UNION ALL
  -- A mark names its table of swaps by a number of the server. That of another table stays one of another table.
  SELECT 'at the end', 1, format('UPDATE history.trade_mark SET swap_table = CASE swap_table WHEN %s '
    'THEN history.swap_table_of(index_schema) ELSE ''0'' END WHERE index_schema = %L', oid, nspname)
  FROM (SELECT nspname, history.swap_table_of(nspname) AS oid FROM home) AS index WHERE oid IS NOT NULL
)
SELECT time, rtrim(text, E'; \n') AS text FROM statement ORDER BY place, text
