-- Pools with a newer committed price than their last sample, whose minute has no sample yet. Depth is read at the head.
SELECT p.pool FROM operator.price_health p
LEFT JOIN LATERAL (
  SELECT q.block_timestamp, q.status FROM history.quote_minute q
  WHERE q.chain_id = p.chain_id AND q.pool = p.pool ORDER BY q.block_timestamp DESC LIMIT 1
) last ON true
WHERE p.chain_id = $1 AND p.pool = ANY ($2) AND p.block_timestamp >= $3
  AND (last.block_timestamp IS NULL OR p.block_timestamp > last.block_timestamp)
  AND p.status = 'healthy' AND p.basis = 'committed' AND p.block_timestamp / 60 IS DISTINCT FROM last.block_timestamp / 60
ORDER BY array_position($2::text[], p.pool::text)
