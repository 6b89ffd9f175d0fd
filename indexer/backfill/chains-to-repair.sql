SELECT a.chain_id::float8 AS "chainId", min(coalesce(a.agreed_block + 1, 0))::float8 AS "fromBlock"
FROM operator.index_audit a
WHERE a.differs_since IS NOT NULL AND a.index_schema = (SELECT read_model.served_schema())
  AND NOT EXISTS (SELECT FROM operator.backfill b WHERE b.begun_at > now() - interval '10 minutes' AND b.served_at IS NOT NULL)
GROUP BY a.chain_id ORDER BY 1
