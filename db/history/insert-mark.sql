INSERT INTO history.trade_mark SELECT $1::text, $2::int8, history.swap_table_of($1::text), 0, -1
ON CONFLICT DO NOTHING
