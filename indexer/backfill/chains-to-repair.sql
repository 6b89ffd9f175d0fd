-- Chains with pools that differ from the chain, and the first block to read again: none within ten minutes of the last backfill.
-- $1: only what an indexer repairs by itself: what a comparison after the second one found too, three times a day at most.
SELECT a.chain_id::float8 AS "chainId", min(coalesce(a.agreed_block + 1, 0))::float8 AS "fromBlock"
FROM operator.index_audit a
WHERE a.differs_since IS NOT NULL AND a.index_schema = (SELECT read_model.served_schema())
  AND NOT EXISTS (SELECT FROM operator.backfill b WHERE b.begun_at > now() - interval '10 minutes' AND b.served_at IS NOT NULL)
  AND (NOT $1 OR a.last_difference_at > a.differs_since AND 3 > (
    SELECT count(*) FROM operator.backfill b
    WHERE a.chain_id = ANY (b.refetched_chains) AND b.begun_at > now() - interval '1 day' AND b.served_at IS NOT NULL))
GROUP BY a.chain_id ORDER BY 1
