-- What moved tokens of pools of chain $1 in blocks $2 to $3, in order, with the balances by events after each: those of the last
-- second before the pool's first event here, the events of that event's second in earlier blocks, and the events up to it.
-- Sites do not get collections of fees. $4: most rows, which `total` counts.
WITH moved AS MATERIALIZED (
  SELECT block_number, block_timestamp, log_index, pool, 'swap' AS kind, transaction_hash, transaction_index, transaction_from,
         amount0_raw AS amount0, amount1_raw AS amount1
  FROM read_model.swap WHERE chain_id = $1 AND block_number BETWEEN $2 AND $3
  UNION ALL
  SELECT block_number, block_timestamp, log_index, pool, CASE direction WHEN 'added' THEN 'join' ELSE 'exit' END,
         transaction_hash, transaction_index, transaction_from, amount0_raw, amount1_raw
  FROM read_model.liquidity_change WHERE chain_id = $1 AND block_number BETWEEN $2 AND $3
  UNION ALL
  SELECT block_number, block_timestamp, log_index, pool, 'collection', transaction_hash, NULL, NULL,
         -amount0_to_protocol_raw - amount0_to_admin_raw, -amount1_to_protocol_raw - amount1_to_admin_raw
  FROM read_model.fee_collection WHERE chain_id = $1 AND block_number BETWEEN $2 AND $3
  LIMIT $4
), first AS MATERIALIZED (
  SELECT pool, min(block_timestamp) AS ts FROM moved GROUP BY pool
), held AS MATERIALIZED (
  SELECT first.pool, coalesce(before.amount0, 0) + coalesce(earlier.amount0, 0) AS amount0,
         coalesce(before.amount1, 0) + coalesce(earlier.amount1, 0) AS amount1
  FROM first
  LEFT JOIN LATERAL (
    SELECT a.swap_in0_raw - a.swap_out0_raw + a.liquidity_in0_raw - a.liquidity_out0_raw - a.fees_collected0_raw AS amount0,
           a.swap_in1_raw - a.swap_out1_raw + a.liquidity_in1_raw - a.liquidity_out1_raw - a.fees_collected1_raw AS amount1
    FROM read_model.pool_activity a
    WHERE a.chain_id = $1 AND a.pool = first.pool AND a.block_timestamp < first.ts
    ORDER BY a.block_timestamp DESC LIMIT 1
  ) before ON true
  LEFT JOIN LATERAL (
    SELECT sum(amount0) AS amount0, sum(amount1) AS amount1
    FROM (
      SELECT s.amount0_raw AS amount0, s.amount1_raw AS amount1 FROM read_model.swap s
      WHERE s.chain_id = $1 AND s.pool = first.pool AND s.block_timestamp = first.ts AND s.block_number < $2
      UNION ALL
      SELECT l.amount0_raw, l.amount1_raw FROM read_model.liquidity_change l
      WHERE l.chain_id = $1 AND l.pool = first.pool AND l.block_timestamp = first.ts AND l.block_number < $2
      UNION ALL
      SELECT -f.amount0_to_protocol_raw - f.amount0_to_admin_raw, -f.amount1_to_protocol_raw - f.amount1_to_admin_raw
      FROM read_model.fee_collection f
      WHERE f.chain_id = $1 AND f.pool = first.pool AND f.block_timestamp = first.ts AND f.block_number < $2
    ) e
  ) earlier ON true
)
SELECT block_number::float8 AS "blockNumber", block_timestamp::float8 AS "blockTimestamp", log_index AS "logIndex", pool, kind,
       transaction_hash AS "transactionHash", transaction_index AS "transactionIndex", transaction_from AS "transactionFrom",
       amount0::text, amount1::text, reserve0::text, reserve1::text, total::float8
FROM (
  SELECT m.*, held.amount0 + sum(m.amount0) OVER until_here AS reserve0,
         held.amount1 + sum(m.amount1) OVER until_here AS reserve1, count(*) OVER () AS total
  FROM moved m
  JOIN held ON held.pool = m.pool
  WINDOW until_here AS (PARTITION BY m.pool ORDER BY m.block_number, m.log_index)
) after
WHERE kind <> 'collection'
ORDER BY block_number, log_index
