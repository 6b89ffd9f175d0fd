-- The last price of each step of these pools, and their newest depth: chain $1, pools $2, seconds of a step $3, start of the
-- first step $4 and of the last $5.
WITH traded AS MATERIALIZED (
  SELECT k.pool, b.start_ts, b.close_price
  FROM unnest($2::text[]) k (pool), read_model.trade_bars($1, k.pool, $3, $4, $5::int8 + $3::int8) b
)
SELECT k.pool, price.doubled_x64 AS "doubledX64", price.closes, depth.bids[4]::text AS "bidRaw", depth.asks[4]::text AS "askRaw"
FROM unnest($2::text[]) WITH ORDINALITY k (pool, position)
CROSS JOIN LATERAL (
  SELECT array_agg(trunc(quoted.doubled)::text ORDER BY step.ts) AS doubled_x64,
         json_agg(traded.close_price::text[] ORDER BY step.ts) AS closes
  FROM generate_series($4::int8, $5::int8, $3::int8) step (ts)
  LEFT JOIN traded ON traded.pool = k.pool AND traded.start_ts = step.ts
  LEFT JOIN LATERAL (
    SELECT q.bid_x64 + q.ask_x64 AS doubled FROM history.quote_minute q
    WHERE q.chain_id = $1 AND q.pool = k.pool AND q.status = 'healthy' AND q.bid_x64 + q.ask_x64 IS NOT NULL
      AND q.block_timestamp >= step.ts AND q.block_timestamp < step.ts + $3::int8
    ORDER BY q.block_timestamp DESC LIMIT 1
  ) quoted ON true
) price
LEFT JOIN LATERAL (
  SELECT q.bid_depth_raw AS bids, q.ask_depth_raw AS asks FROM history.quote_minute q
  WHERE q.chain_id = $1 AND q.pool = k.pool AND q.block_timestamp >= $4::int8
    AND (q.bid_depth_raw IS NOT NULL OR q.ask_depth_raw IS NOT NULL)
  ORDER BY q.block_timestamp DESC LIMIT 1
) depth ON true
ORDER BY k.position
