SELECT p.address, p.lowest_bin AS "lowestBin", p.highest_bin AS "highestBin",
  p.price_provider AS "priceProvider", p.token0_scale_multiplier::text AS multiplier0,
  p.token1_scale_multiplier::text AS multiplier1
FROM read_model.pool p
JOIN operator.pool_storage s ON s.chain_id = p.chain_id AND s.pool = p.address
WHERE p.chain_id = $1 AND p.factory = $2 AND s.refusal IS NULL AND s.total0_scaled + s.total1_scaled > 0
ORDER BY p.created_block_number, p.address
LIMIT 5
