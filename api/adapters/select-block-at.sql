-- The newest block of chain $1 with an event, at or before the time $2, no newer than block $3.
SELECT newest.block_number::float8 AS "blockNumber", newest.block_timestamp::float8 AS "blockTimestamp"
FROM read_model.pool p
CROSS JOIN LATERAL (
  SELECT a.block_number, a.block_timestamp FROM read_model.pool_activity a
  WHERE a.chain_id = p.chain_id AND a.pool = p.address AND a.block_timestamp <= $2 AND a.block_number <= $3
  ORDER BY a.block_timestamp DESC LIMIT 1
) newest
WHERE p.chain_id = $1
ORDER BY newest.block_number DESC LIMIT 1
