-- When another process is writing these minutes, this one waits for it.
SELECT until_ts AS "untilTs", until_block AS "untilBlock" FROM history.trade_mark
WHERE index_schema = $1 AND chain_id = $2 AND swap_table = history.swap_table_of($1) FOR UPDATE
