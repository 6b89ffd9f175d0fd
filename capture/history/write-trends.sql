-- The trends of funded pools of chain $1 until its newest indexed block, by the prices and depth that `/trends` shows. A change
-- needs the first and the last price alone, which most pools have in the first and the last hour: only of others is the time
-- between read.
WITH day AS MATERIALIZED (
  SELECT block_timestamp - block_timestamp % 900 - 95 * 900 AS from_ts, block_timestamp - block_timestamp % 900 + 900 AS to_ts
  FROM read_model.indexed_block WHERE chain_id = $1
), funded AS MATERIALIZED (
  SELECT pool FROM operator.price_health WHERE chain_id = $1 AND is_funded
), other AS (
  DELETE FROM operator.pool_trend WHERE chain_id = $1 AND pool NOT IN (SELECT pool FROM funded)
)
INSERT INTO operator.pool_trend (chain_id, pool, change_e6, depth_fiat)
SELECT $1, p.address, div((price.last - price.first) * 1000000, nullif(price.first, 0)),
  depth.bid_raw / 10::numeric ^ p.token1_decimals * p1.usd + depth.ask_raw / 10::numeric ^ p.token0_decimals * p0.usd
FROM day CROSS JOIN funded
JOIN read_model.pool_rows() p ON p.chain_id = $1 AND p.address = funded.pool
LEFT JOIN operator.listing_price p0 ON p0.chain_id = p.chain_id AND p0.token = p.token0
LEFT JOIN operator.listing_price p1 ON p1.chain_id = p.chain_id AND p1.token = p.token1
LEFT JOIN LATERAL (
  WITH ends AS MATERIALIZED (
    SELECT * FROM read_model.price_steps($1, p.address, 900, day.from_ts, day.from_ts + 3600) WHERE price_x64 IS NOT NULL
    UNION ALL
    SELECT * FROM read_model.price_steps($1, p.address, 900, day.to_ts - 3600, day.to_ts) WHERE price_x64 IS NOT NULL
  ), known AS (
    SELECT * FROM ends
    UNION ALL
    SELECT * FROM read_model.price_steps($1, p.address, 900, day.from_ts + 3600, day.to_ts - 3600)
    WHERE price_x64 IS NOT NULL
      AND (SELECT count(DISTINCT step_ts < day.from_ts + 3600) < 2 FROM ends)
  )
  SELECT (array_agg(price_x64 ORDER BY step_ts))[1] AS first, (array_agg(price_x64 ORDER BY step_ts DESC))[1] AS last
  FROM known
  HAVING count(*) > 1
) price ON true
LEFT JOIN LATERAL read_model.newest_depth($1, p.address, day.from_ts) depth ON true
ON CONFLICT (chain_id, pool) DO UPDATE
  SET change_e6 = excluded.change_e6, depth_fiat = excluded.depth_fiat, updated_at = excluded.updated_at
