-- Events and pools that one of two indexes lacks, of chains $1 from blocks $2 to the last block that is final in the older one.
WITH chain AS (
  SELECT r.chain_id, r.from_block, substr(c.finalized_checkpoint, 27, 16)::int8 AS to_block
  FROM unnest($1::int8[], $2::int8[]) AS r (chain_id, from_block)
  JOIN :"before"._ponder_checkpoint c ON c.chain_id = r.chain_id
), old_log AS (
  SELECT chain_id, pool, block_number, log_index FROM :"before".swap
  UNION ALL SELECT chain_id, pool, block_number, log_index FROM :"before".liquidity_change
  UNION ALL SELECT chain_id, pool, block_number, log_index FROM :"before".fee_collection
  UNION ALL SELECT chain_id, address, created_block_number, NULL FROM :"before".pool
), new_log AS (
  SELECT chain_id, pool, block_number, log_index FROM :"after".swap
  UNION ALL SELECT chain_id, pool, block_number, log_index FROM :"after".liquidity_change
  UNION ALL SELECT chain_id, pool, block_number, log_index FROM :"after".fee_collection
  UNION ALL SELECT chain_id, address, created_block_number, NULL FROM :"after".pool
), old AS (
  SELECT l.* FROM old_log l JOIN chain USING (chain_id) WHERE l.block_number BETWEEN chain.from_block AND chain.to_block
), new AS (
  SELECT l.* FROM new_log l JOIN chain USING (chain_id) WHERE l.block_number BETWEEN chain.from_block AND chain.to_block
)
SELECT change, chain_id::float8 AS "chainId", pool, block_number::float8 AS "blockNumber", log_index AS "logIndex"
FROM (
  SELECT 'missing' AS change, m.* FROM (TABLE new EXCEPT TABLE old) m
  UNION ALL SELECT 'extra', e.* FROM (TABLE old EXCEPT TABLE new) e
) changed
ORDER BY 2, 4, 5 LIMIT 100
