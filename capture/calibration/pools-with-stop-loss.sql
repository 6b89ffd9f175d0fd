-- A few pools are enough to decide the mark.
SELECT p.address, p.lowest_bin AS "lowestBin", p.highest_bin AS "highestBin",
  p.price_provider AS "priceProvider", p.token0_scale_multiplier::text AS multiplier0,
  p.token1_scale_multiplier::text AS multiplier1
FROM read_model.pool_extension e
JOIN read_model.pool p ON p.chain_id = e.chain_id AND p.address = e.pool
LEFT JOIN operator.pool_listing l ON l.chain_id = $1 AND l.pool = p.address
WHERE e.chain_id = $1 AND e.address = $3 AND p.factory = $2
ORDER BY l.tvl_fiat DESC NULLS LAST, p.created_block_number, p.address
LIMIT 20
