SELECT history.keep_partitions('quote_minute', day, $3), history.keep_partitions('executability_hour', day, $4) FROM (
  SELECT DISTINCT block_timestamp - block_timestamp % 86400 AS day FROM operator.price_health
  WHERE chain_id = $1 AND pool = ANY ($2) AND block_timestamp >= $3) days
