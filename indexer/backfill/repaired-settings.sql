-- Settings of pools of chains $1 that two indexes have otherwise, by the contract that holds them: columns of its row in `live`.
-- Nothing is said of a row that either index changed after the last block that is final in the older one, and of new pools.
WITH chain AS (
  SELECT chain_id, substr(finalized_checkpoint, 27, 16)::int8 AS to_block
  FROM :"before"._ponder_checkpoint WHERE chain_id = ANY ($1::int8[])
), old AS (
  SELECT 'pool' AS kind, chain_id, address AS pool, address AS contract, '' AS account, block_number, to_jsonb(t) AS settings FROM :"before".pool t
  UNION ALL SELECT 'stop_loss', chain_id, pool, address, '', block_number, to_jsonb(t) FROM :"before".stop_loss t
  UNION ALL SELECT 'price_velocity', chain_id, pool, address, '', block_number, to_jsonb(t) FROM :"before".price_velocity t
  UNION ALL SELECT 'allowlist', chain_id, pool, address, '', block_number, to_jsonb(t) FROM :"before".allowlist t
  UNION ALL SELECT 'allowlist_entry', chain_id, pool, address, account, block_number, to_jsonb(t) FROM :"before".allowlist_entry t
), new AS (
  SELECT 'pool' AS kind, chain_id, address AS pool, address AS contract, '' AS account, block_number, to_jsonb(t) AS settings FROM :"after".pool t
  UNION ALL SELECT 'stop_loss', chain_id, pool, address, '', block_number, to_jsonb(t) FROM :"after".stop_loss t
  UNION ALL SELECT 'price_velocity', chain_id, pool, address, '', block_number, to_jsonb(t) FROM :"after".price_velocity t
  UNION ALL SELECT 'allowlist', chain_id, pool, address, '', block_number, to_jsonb(t) FROM :"after".allowlist t
  UNION ALL SELECT 'allowlist_entry', chain_id, pool, address, account, block_number, to_jsonb(t) FROM :"after".allowlist_entry t
)
SELECT chain_id::float8 AS "chainId", pool, contract, nullif(account, '') AS account, array_agg(name ORDER BY name) AS settings
FROM old FULL JOIN new USING (kind, chain_id, pool, contract, account) JOIN chain USING (chain_id),
LATERAL (
  SELECT name FROM jsonb_each(coalesce(old.settings, '{}')) AS o (name, value)
  FULL JOIN jsonb_each(coalesce(new.settings, '{}')) AS n (name, value) USING (name)
  WHERE coalesce(o.value, 'null') <> coalesce(n.value, 'null')
    AND name <> ALL ('{chain_id,address,pool,account,action,block_number,block_timestamp,last_mid_price_x64,last_mid_price_block}')
) changed
WHERE greatest(old.block_number, new.block_number) <= to_block AND (kind <> 'pool' OR old.settings IS NOT NULL AND new.settings IS NOT NULL)
GROUP BY kind, chain_id, pool, contract, account ORDER BY chain_id, pool, contract, account LIMIT 100
