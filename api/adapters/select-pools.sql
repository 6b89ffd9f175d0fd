-- Pools $2 of chain $1 and factories $3 as sites see them, and why their events are left out; null: they are not.
SELECT p.address, p.factory, p.token0, p.token1, p.token0_decimals AS decimals0, p.token1_decimals AS decimals1, p.creator,
       p.created_block_number::float8 AS "createdBlockNumber", p.created_timestamp::float8 AS "createdTimestamp",
       p.created_transaction_hash AS "createdTransactionHash",
       CASE WHEN EXISTS (SELECT FROM operator.delisted_pool d WHERE d.chain_id = $1 AND d.pool::text = p.address) THEN 'delisted'
            WHEN EXISTS (SELECT FROM operator.index_audit a WHERE a.chain_id = $1 AND a.address::text = p.address
              AND a.differs_since IS NOT NULL) THEN 'differs'
            WHEN t0.address IS NULL OR t1.address IS NULL THEN 'token'
            WHEN p.token0_symbol IS NULL OR p.token1_symbol IS NULL THEN 'symbol'
            WHEN p.token0_decimals IS NULL OR p.token1_decimals IS NULL THEN 'decimals' END AS "leftOut"
FROM read_model.pool p
LEFT JOIN read_model.token t0 ON t0.chain_id = p.chain_id AND t0.address = p.token0
LEFT JOIN read_model.token t1 ON t1.chain_id = p.chain_id AND t1.address = p.token1
WHERE p.chain_id = $1 AND p.address = ANY ($2::text[]) AND p.factory = ANY ($3::text[])
