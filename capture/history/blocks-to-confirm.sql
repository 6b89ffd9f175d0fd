-- Of fills in final blocks, those of 20 blocks at most.
SELECT DISTINCT f.block_number AS "blockNumber" FROM history.fill f, live._ponder_checkpoint c
WHERE f.chain_id = $1 AND NOT f.is_final AND c.chain_id = $1
  AND f.block_timestamp < substr(c.finalized_checkpoint, 1, 10)::int8
ORDER BY 1 LIMIT 20
