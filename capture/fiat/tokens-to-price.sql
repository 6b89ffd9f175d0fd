SELECT t.chain_id::float8 AS "chainId", t.address, t.decimals, p.token IS NOT NULL AS "isPriced"
FROM live.token t LEFT JOIN operator.fiat_price p ON p.chain_id = t.chain_id AND p.token = t.address
ORDER BY t.block_timestamp, t.chain_id, t.address
