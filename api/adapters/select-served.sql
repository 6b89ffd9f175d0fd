-- The newest block of chain $1 whose events sites may ask for: final, and a minute older than the index. Ponder takes rows of final
-- blocks back, too, from when another chain replaces blocks until this chain's next block: a minute covers that. Only blocks with
-- an event, and the two of the checkpoint, have a known time. A block that was named once stays below `finalBlock`.
WITH point AS MATERIALIZED (
  SELECT substr(finalized_checkpoint, 27, 16)::int8 AS final_block, substr(finalized_checkpoint, 1, 10)::int8 AS final_ts,
         substr(latest_checkpoint, 1, 10)::int8 - 60 AS settled_ts
  FROM live._ponder_checkpoint WHERE chain_id = $1
)
SELECT coalesce(older.block_number, final_block)::float8 AS "blockNumber",
       coalesce(older.block_timestamp, final_ts)::float8 AS "blockTimestamp",
       final_block::float8 AS "finalBlock",
       EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'live.liquidity_change'::regclass AND attname = 'transaction_index'
         AND NOT attisdropped) AS "hasTransactions"
FROM point
LEFT JOIN LATERAL (
  SELECT e.block_number, e.block_timestamp
  FROM (
    (SELECT s.block_number, s.block_timestamp FROM read_model.swap s
     WHERE s.chain_id = $1 AND s.block_number <= final_block AND s.block_timestamp <= settled_ts
     ORDER BY s.block_number DESC LIMIT 1)
    UNION ALL
    (SELECT l.block_number, l.block_timestamp FROM read_model.liquidity_change l
     WHERE l.chain_id = $1 AND l.block_number <= final_block AND l.block_timestamp <= settled_ts
     ORDER BY l.block_number DESC LIMIT 1)
  ) e
  ORDER BY e.block_number DESC LIMIT 1
) older ON final_ts > settled_ts
