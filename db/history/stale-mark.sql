SELECT index_schema AS schema, chain_id::float8 AS "chainId" FROM history.trade_mark
WHERE history.swap_table_of(index_schema) IS DISTINCT FROM swap_table
ORDER BY index_schema, chain_id LIMIT 1 FOR UPDATE SKIP LOCKED
