-- The place is out of the planner's sight: it takes few rows to be behind recent ones, and would plan each slice again. The
-- number of rows is a literal, so that it knows how few these are.
SELECT h.pool AS address, (extract(epoch FROM h.captured_at) * 1e6)::float8 AS "capturedUs", h.status = 'healthy' AS "isHealthy",
  coalesce(h.balance0_raw, 0)::float8 AS balance0, coalesce(h.balance1_raw, 0)::float8 AS balance1,
  coalesce(h.sell_price_x64, 0)::float8 AS "sellX64", coalesce(h.buy_price_x64, 0)::float8 AS "buyX64", c.tier, h.is_funded AS "isFunded"
FROM operator.price_health h LEFT JOIN operator.pool_classification c USING (chain_id, pool)
WHERE h.chain_id = $1
  AND (h.captured_at, h.pool) > ((SELECT 'epoch'::timestamptz + $2::float8 * interval '1 us'), (SELECT $3::text))
ORDER BY h.captured_at, h.pool LIMIT 1000
