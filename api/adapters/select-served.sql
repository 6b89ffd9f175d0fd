-- The newest block of chain $1 whose events sites may ask for: final, and a minute older than the index. Ponder takes rows of final
-- blocks back, too, from when another chain replaces blocks until this chain's next block: a minute covers that. With $2 it is
-- that many blocks behind the index instead. Only blocks with an event, and the two of the checkpoint, have a known time. A block
-- that was named once stays below `lastBlock`, but for a reorganisation of more than $2 blocks.
WITH point AS MATERIALIZED (
  SELECT substr(finalized_checkpoint, 27, 16)::int8 AS final_block, substr(finalized_checkpoint, 1, 10)::int8 AS final_ts,
         coalesce(substr(latest_checkpoint, 27, 16)::int8 - $2::int8, substr(finalized_checkpoint, 27, 16)::int8) AS last_block,
         substr(latest_checkpoint, 1, 10)::int8 - CASE WHEN $2::int8 IS NULL THEN 60 ELSE 0 END AS settled_ts
  FROM live._ponder_checkpoint WHERE chain_id = $1
)
SELECT coalesce(older.block_number, final_block)::float8 AS "blockNumber",
       coalesce(older.block_timestamp, final_ts)::float8 AS "blockTimestamp",
       CASE WHEN older IS NULL THEN greatest(last_block, final_block) ELSE last_block END::float8 AS "lastBlock",
       EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'live.liquidity_change'::regclass AND attname = 'transaction_index'
         AND NOT attisdropped) AS "hasTransactions"
FROM point
LEFT JOIN LATERAL (
  SELECT e.block_number, e.block_timestamp
  FROM (
    (SELECT s.block_number, s.block_timestamp FROM read_model.swap s
     WHERE s.chain_id = $1 AND s.block_number <= last_block AND s.block_timestamp <= settled_ts
     ORDER BY s.block_number DESC LIMIT 1)
    UNION ALL
    (SELECT l.block_number, l.block_timestamp FROM read_model.liquidity_change l
     WHERE l.chain_id = $1 AND l.block_number <= last_block AND l.block_timestamp <= settled_ts
     ORDER BY l.block_number DESC LIMIT 1)
    UNION ALL
    SELECT final_block, final_ts WHERE final_block <= last_block AND final_ts <= settled_ts
  ) e
  ORDER BY e.block_number DESC LIMIT 1
) older ON $2::int8 IS NOT NULL OR final_ts > settled_ts
