-- The prices of steps of $3 seconds, from $4 to before $5, and the newest depth of pools $2 of chain $1.
SELECT steps.prices_x64 AS "pricesX64", depth.bid_raw::text AS "bidRaw", depth.ask_raw::text AS "askRaw"
FROM unnest($2::text[]) WITH ORDINALITY k (pool, position)
CROSS JOIN LATERAL (
  SELECT array_agg(price_x64::text ORDER BY step_ts) AS prices_x64 FROM read_model.price_steps($1, k.pool, $3, $4, $5)
) steps
LEFT JOIN LATERAL read_model.newest_depth($1, k.pool, $4) depth ON true
ORDER BY k.position
