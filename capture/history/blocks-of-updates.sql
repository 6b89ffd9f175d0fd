-- The final blocks that published updates are for, 20 at most, newest first: one that no node gives holds up no other, and is asked
-- for during a day. By two minutes after an update its hour has a sample, and the audit trail has all updates for its block.
SELECT DISTINCT s.block_number AS "blockNumber"
FROM operator.pamm_submission s, live._ponder_checkpoint c
WHERE s.chain_id = $1 AND s.has_landed IS NULL AND NOT s.is_cancel AND s.pools <> '{}'
  AND s.received_at < now() - interval '2 minutes' AND s.received_at > now() - interval '1 day'
  AND c.chain_id = $1 AND s.block_number <= substr(c.finalized_checkpoint, 27, 16)::int8
ORDER BY 1 DESC LIMIT 20
