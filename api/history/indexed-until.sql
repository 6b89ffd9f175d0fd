SELECT block_timestamp::float8 AS "nowTs" FROM read_model.indexed_block WHERE chain_id = $1
