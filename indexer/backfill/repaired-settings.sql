-- Settings of pools of chains $1 that two indexes have otherwise, by the contract that holds them: columns of its row in `live`.
-- Nothing is said of a row that either index changed after the last block that is final in the older one, and of new pools.
WITH chain AS (
  SELECT chain_id, substr(finalized_checkpoint, 27, 16)::int8 AS to_block
  FROM :"before"._ponder_checkpoint WHERE chain_id = ANY ($1::int8[])
), compared AS (
  SELECT 'pool' AS kind, chain_id, address AS pool, address AS contract, '' AS account, to_jsonb(o) AS old, to_jsonb(n) AS new,
         greatest(o.block_number, n.block_number) AS block_number
  FROM :"before".pool o FULL JOIN :"after".pool n USING (chain_id, address)
  UNION ALL SELECT 'stop_loss', chain_id, pool, address, '', to_jsonb(o), to_jsonb(n), greatest(o.block_number, n.block_number)
  FROM :"before".stop_loss o FULL JOIN :"after".stop_loss n USING (chain_id, pool, address)
  UNION ALL SELECT 'price_velocity', chain_id, pool, address, '', to_jsonb(o), to_jsonb(n), greatest(o.block_number, n.block_number)
  FROM :"before".price_velocity o FULL JOIN :"after".price_velocity n USING (chain_id, pool, address)
  UNION ALL SELECT 'allowlist', chain_id, pool, address, '', to_jsonb(o), to_jsonb(n), greatest(o.block_number, n.block_number)
  FROM :"before".allowlist o FULL JOIN :"after".allowlist n USING (chain_id, pool, address)
  UNION ALL SELECT 'allowlist_entry', chain_id, pool, address, account, to_jsonb(o), to_jsonb(n), greatest(o.block_number, n.block_number)
  FROM :"before".allowlist_entry o FULL JOIN :"after".allowlist_entry n USING (chain_id, pool, address, account)
)
SELECT chain_id::float8 AS "chainId", pool, contract, nullif(account, '') AS account, array_agg(name ORDER BY name) AS settings
FROM compared JOIN chain USING (chain_id),
LATERAL (
  SELECT name FROM jsonb_each(coalesce(old, '{}')) AS o (name, value)
  FULL JOIN jsonb_each(coalesce(new, '{}')) AS n (name, value) USING (name)
  WHERE coalesce(o.value, 'null') <> coalesce(n.value, 'null')
    AND name <> ALL ('{chain_id,address,pool,account,action,block_number,block_timestamp,last_mid_price_x64,last_mid_price_block}')
) changed
WHERE block_number <= to_block AND (kind <> 'pool' OR old IS NOT NULL AND new IS NOT NULL)
GROUP BY kind, chain_id, pool, contract, account ORDER BY chain_id, pool, contract, account LIMIT 100
