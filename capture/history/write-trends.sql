-- The trends of funded pools of chain $1 until its newest indexed block. As `/trends` does, it takes the last price of each
-- quarter of an hour: the middle of a quote, or else the price of a trade.
WITH day AS MATERIALIZED (
  SELECT block_timestamp - block_timestamp % 900 - 95 * 900 AS from_ts, block_timestamp - block_timestamp % 900 + 900 AS to_ts
  FROM read_model.indexed_block WHERE chain_id = $1
), quoted AS NOT MATERIALIZED (
  SELECT pool, block_timestamp AS ts, block_timestamp - block_timestamp % 900 AS step_ts, div(bid_x64 + ask_x64, 2) AS price
  FROM history.quote_minute
  WHERE chain_id = $1 AND status = 'healthy' AND bid_x64 + ask_x64 IS NOT NULL
    AND block_timestamp >= (SELECT from_ts FROM day) AND block_timestamp < (SELECT to_ts FROM day)
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
  SELECT q.step_ts FROM quoted q WHERE q.pool = p.address ORDER BY q.ts LIMIT 1
) begun ON true
LEFT JOIN LATERAL (
  SELECT q.step_ts, q.price FROM quoted q WHERE q.pool = p.address AND q.ts < begun.step_ts + 900 ORDER BY q.ts DESC LIMIT 1
) first_quote ON true
LEFT JOIN LATERAL (
  SELECT q.step_ts, q.price FROM quoted q WHERE q.pool = p.address ORDER BY q.ts DESC LIMIT 1
) last_quote ON true
LEFT JOIN LATERAL (
  SELECT (array_agg(known.price ORDER BY known.step_ts, known.is_trade))[1] AS first,
         (array_agg(known.price ORDER BY known.step_ts DESC, known.is_trade))[1] AS last
  FROM (
    SELECT first_quote.step_ts, first_quote.price, false UNION ALL SELECT last_quote.step_ts, last_quote.price, false
    UNION ALL
    SELECT b.start_ts, div(b.close_price[2] * p.token1_scale_multiplier * 2::numeric ^ 64, b.close_price[1] * p.token0_scale_multiplier),
      true
    FROM read_model.trade_bars($1, p.address, 900, day.from_ts, day.to_ts) b
    -- A trade matters before the first quote and after the last one alone.
    WHERE first_quote.step_ts IS DISTINCT FROM day.from_ts OR last_quote.step_ts IS DISTINCT FROM day.to_ts - 900
  ) known (step_ts, price, is_trade)
  WHERE known.price IS NOT NULL
  HAVING min(known.step_ts) < max(known.step_ts)
) price ON true
LEFT JOIN LATERAL (
  SELECT q.bid_depth_raw[4] AS bid_raw, q.ask_depth_raw[4] AS ask_raw FROM history.quote_minute q
  WHERE q.chain_id = $1 AND q.pool = p.address AND q.block_timestamp >= day.from_ts
    AND (q.bid_depth_raw IS NOT NULL OR q.ask_depth_raw IS NOT NULL)
  ORDER BY q.block_timestamp DESC LIMIT 1
) depth ON true
ON CONFLICT (chain_id, pool) DO UPDATE
  SET change_e6 = excluded.change_e6, depth_fiat = excluded.depth_fiat, updated_at = excluded.updated_at
