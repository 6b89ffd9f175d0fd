-- What events of pool $2 of chain $1 after block $3, up to block $4, changed: of bins, and of accrued notional fees, which a collection
-- sets to zero: its row has null. $5: most rows.
SELECT block_number::float8 AS block, bin, token0::text, token1::text, shares::text, fee0::text, fee1::text
FROM (
  SELECT s.block_number, s.parts[part][2]::int4 AS bin, s.parts[part][3] AS token0, s.parts[part][4] AS token1,
         0::numeric AS shares, 0::numeric AS fee0, 0::numeric AS fee1
  FROM :"schema".swap s, generate_subscripts(s.parts, 1) part
  WHERE s.chain_id = $1 AND s.pool = $2 AND s.block_number > $3 AND s.block_number <= $4
  UNION ALL
  -- The input token pays the fee of an exact output, the output token that of an exact input.
  SELECT block_number, NULL, 0, 0, 0, CASE WHEN zero_for_one <> exact_input THEN notional_fee_scaled ELSE 0 END,
         CASE WHEN zero_for_one = exact_input THEN notional_fee_scaled ELSE 0 END
  FROM :"schema".swap
  WHERE chain_id = $1 AND pool = $2 AND block_number > $3 AND block_number <= $4 AND notional_fee_scaled <> 0
  UNION ALL
  SELECT block_number, bin_idx, delta0_scaled, delta1_scaled, shares_delta, 0, 0
  FROM :"schema".liquidity_change_bin
  WHERE chain_id = $1 AND pool = $2 AND block_number > $3 AND block_number <= $4
  UNION ALL
  SELECT block_number, NULL, 0, 0, 0, NULL, NULL FROM :"schema".fee_collection
  WHERE chain_id = $1 AND pool = $2 AND block_number > $3 AND block_number <= $4
) change
LIMIT $5
