-- What may be counted is final, and a minute older than the index: Ponder takes rows of final blocks back, too, from when another chain
-- replaces blocks until its next block. A minute that lacked them would count as final.
WITH later AS NOT MATERIALIZED (
  SELECT block_timestamp, block_number, log_index FROM :"schema".swap WHERE chain_id = $1 AND block_number > $2
)
SELECT least(substr(finalized_checkpoint, 1, 10)::int8, substr(latest_checkpoint, 1, 10)::int8 - 60) AS final,
  (SELECT block_timestamp FROM later ORDER BY block_number, log_index LIMIT 1) AS first,
  (SELECT block_timestamp FROM later ORDER BY block_number, log_index OFFSET $3 LIMIT 1) AS beyond
FROM :"schema"._ponder_checkpoint WHERE chain_id = $1
