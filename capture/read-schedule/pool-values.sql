-- The value is zero without a price. Prices of any age count. A balance by events may be negative.
SELECT p.chain_id::float8 AS "chainId", p.address, p.token0, p.token1, p.factory, p.price_provider AS "priceProvider",
  p.token0_scale_multiplier AS multiplier0, p.token1_scale_multiplier AS multiplier1,
  coalesce(greatest(s.balance0_raw, 0)::float8 / 10::float8 ^ p.token0_decimals * f0.usd, 0)
    + coalesce(greatest(s.balance1_raw, 0)::float8 / 10::float8 ^ p.token1_decimals * f1.usd, 0) AS "valueUsd"
FROM read_model.pool p
LEFT JOIN read_model.pool_state s ON s.chain_id = $1 AND s.pool = p.address
LEFT JOIN operator.fiat_price f0 ON f0.chain_id = $1 AND f0.token = p.token0
LEFT JOIN operator.fiat_price f1 ON f1.chain_id = $1 AND f1.token = p.token1
WHERE p.chain_id = $1
ORDER BY p.address
