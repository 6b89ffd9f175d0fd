-- Swaps of recent blocks, whose states nodes still hold, before which nothing happened to their pool in their block. At
-- most 10 of a pool and minute are compared, the others stay unknown. One run reads 20 blocks.
WITH head AS (SELECT block_number FROM read_model.indexed_block WHERE chain_id = $1),
recent AS (
  SELECT s.block_number, s.log_index, s.transaction_hash, s.pool, s.block_timestamp, s.zero_for_one,
         greatest(s.amount0_raw, s.amount1_raw) AS in_raw
  FROM live.swap s, head
  WHERE s.chain_id = $1 AND s.block_number > head.block_number - 100 AND s.pool = ANY ($2)
    AND s.amount0_raw <> 0 AND s.amount1_raw <> 0
    AND NOT EXISTS (SELECT FROM live.swap e WHERE e.chain_id = $1 AND e.block_number = s.block_number
      AND e.log_index < s.log_index AND e.pool = s.pool)
    AND NOT EXISTS (SELECT FROM live.liquidity_change e WHERE e.chain_id = $1 AND e.block_number = s.block_number
      AND e.log_index < s.log_index AND e.pool = s.pool)
    AND NOT EXISTS (SELECT FROM live.fee_collection e WHERE e.chain_id = $1 AND e.block_number = s.block_number
      AND e.log_index < s.log_index AND e.pool = s.pool)
), new AS (
  SELECT r.*, row_number() OVER (PARTITION BY r.pool, r.block_timestamp / 60 ORDER BY r.block_number, r.log_index) AS place
  FROM recent r
  WHERE NOT EXISTS (
    SELECT FROM history.fill f
    WHERE f.chain_id = $1 AND f.block_number = r.block_number AND f.log_index = r.log_index
      AND f.transaction_hash = r.transaction_hash AND f.zero_for_one = r.zero_for_one AND f.in_raw = r.in_raw)
), open AS (
  SELECT n.*, dense_rank() OVER (ORDER BY n.block_number) AS block_place FROM new n
  -- A minute may have begun before the recent blocks.
  WHERE n.place + (SELECT count(*) FROM read_model.swap_fills() f WHERE f.chain_id = $1 AND f.pool = n.pool
    AND f.block_timestamp >= n.block_timestamp - n.block_timestamp % 60
    AND f.block_timestamp < n.block_timestamp - n.block_timestamp % 60 + 60) <= 10
)
SELECT block_number AS "blockNumber", log_index AS "logIndex", transaction_hash AS "transactionHash", pool,
       block_timestamp AS "blockTimestamp", zero_for_one AS "zeroForOne", in_raw AS "inRaw"
FROM open WHERE block_place <= 20 ORDER BY block_number, log_index
