SELECT chain_id::float8 AS "chainId" FROM :"schema"._ponder_checkpoint ORDER BY chain_id
