-- Block $2 of chain $1 by an event in it, no newer than block $3.
SELECT block_number::float8 AS "blockNumber", block_timestamp::float8 AS "blockTimestamp"
FROM (
  SELECT block_number, block_timestamp FROM read_model.swap WHERE chain_id = $1 AND block_number = $2
  UNION ALL
  SELECT block_number, block_timestamp FROM read_model.liquidity_change WHERE chain_id = $1 AND block_number = $2
  UNION ALL
  SELECT block_number, block_timestamp FROM read_model.fee_collection WHERE chain_id = $1 AND block_number = $2
  UNION ALL
  SELECT created_block_number, created_timestamp FROM read_model.pool WHERE chain_id = $1 AND created_block_number = $2
) known
WHERE block_number <= $3
LIMIT 1
