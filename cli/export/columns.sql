SELECT attname AS name, atttypid::int4 AS type FROM pg_attribute
WHERE attrelid = to_regclass('read_model.' || $1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
