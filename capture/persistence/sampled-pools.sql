-- Pools of chain $1 with a sample in two days until $2.
SELECT DISTINCT pool FROM history.persistence_minute WHERE chain_id = $1 AND block_timestamp >= $2::int8 - 172800
