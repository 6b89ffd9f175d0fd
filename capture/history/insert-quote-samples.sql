-- By block time: the same blocks give the same samples. A price that was not read again gives none. Besides one sample per
-- minute, a pool has at most 10 per hour that record a change of status.
INSERT INTO history.quote_minute (chain_id, pool, block_timestamp, block_number, status, bid_x64, ask_x64, is_change, basis)
SELECT p.chain_id, p.pool, p.block_timestamp, p.block_number, p.status, p.sell_price_x64, p.buy_price_x64,
       coalesce(p.block_timestamp / 60 = last.block_timestamp / 60, false), p.basis
FROM operator.price_health p
LEFT JOIN LATERAL (
  SELECT q.block_timestamp, q.status FROM history.quote_minute q
  WHERE q.chain_id = p.chain_id AND q.pool = p.pool ORDER BY q.block_timestamp DESC LIMIT 1
) last ON true
WHERE p.chain_id = $1 AND p.pool = ANY ($2) AND p.block_timestamp >= $3
  AND (last.block_timestamp IS NULL OR p.block_timestamp > last.block_timestamp)
  AND (p.block_timestamp / 60 IS DISTINCT FROM last.block_timestamp / 60
    OR p.status <> last.status AND 10 > (
      SELECT count(*) FROM history.quote_minute q
      WHERE q.chain_id = p.chain_id AND q.pool = p.pool AND q.is_change
        AND q.block_timestamp >= p.block_timestamp - p.block_timestamp % 3600))
ON CONFLICT DO NOTHING
