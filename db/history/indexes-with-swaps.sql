SELECT n.nspname AS schema FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname = '_ponder_checkpoint' AND c.relkind = 'r' AND history.swap_table_of(n.nspname) IS NOT NULL
ORDER BY n.nspname = read_model.served_schema() DESC, 1
