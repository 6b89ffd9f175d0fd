-- Nodes forget the state of older blocks than those of the newest 5,000 swaps. The pools with the most of these need few
-- calls for logs.
SELECT p.address, p.lowest_bin AS "lowestBin", p.highest_bin AS "highestBin",
  p.price_provider AS "priceProvider", p.token0_scale_multiplier::text AS multiplier0,
  p.token1_scale_multiplier::text AS multiplier1, traded.swaps
FROM (
  SELECT pool, count(*)::integer AS swaps
  FROM (
    SELECT pool FROM read_model.swap WHERE chain_id = $1
    ORDER BY block_number DESC, log_index DESC LIMIT 5000
  ) newest
  GROUP BY 1
) traded
JOIN read_model.pool p ON p.chain_id = $1 AND p.address = traded.pool
WHERE p.factory = $2
ORDER BY traded.swaps DESC, p.address
LIMIT 300
