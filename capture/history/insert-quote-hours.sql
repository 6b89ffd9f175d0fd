-- Bars of the closed hours that follow the last one written. An hour is closed once a funded pool ($4) has a price of a later
-- one, or a day later: the chain may be behind. Depth is aggregated as text, since an aggregate of arrays has two dimensions.
INSERT INTO history.quote_hour
SELECT chain_id, pool, block_timestamp - block_timestamp % 3600,
       (array_agg(bid_x64 ORDER BY block_timestamp))[1], max(bid_x64), min(bid_x64),
       (array_agg(bid_x64 ORDER BY block_timestamp DESC))[1],
       (array_agg(ask_x64 ORDER BY block_timestamp))[1], max(ask_x64), min(ask_x64),
       (array_agg(ask_x64 ORDER BY block_timestamp DESC))[1],
       (array_agg(mid_x64 ORDER BY block_timestamp))[1], max(mid_x64), min(mid_x64),
       (array_agg(mid_x64 ORDER BY block_timestamp DESC))[1], count(*),
       ((array_agg(bid_depth_raw::text ORDER BY block_timestamp DESC) FILTER (WHERE bid_depth_raw IS NOT NULL))[1])::numeric[],
       ((array_agg(ask_depth_raw::text ORDER BY block_timestamp DESC) FILTER (WHERE ask_depth_raw IS NOT NULL))[1])::numeric[]
FROM history.quote_minute, LATERAL (SELECT (bid_x64 + ask_x64) * 0.5 AS mid_x64) middle
WHERE chain_id = $1 AND status = 'healthy' AND mid_x64 IS NOT NULL
  AND block_timestamp >= greatest($2, coalesce((SELECT max(hour_ts) + 3600 FROM history.quote_hour WHERE chain_id = $1), 0))
  AND block_timestamp < greatest($3::int8 - 86400, least($3::int8, (
    SELECT max(p.block_timestamp) - max(p.block_timestamp) % 3600 FROM operator.price_health p
    WHERE p.chain_id = $1 AND p.pool = ANY ($4))))
GROUP BY 1, 2, 3
ON CONFLICT DO NOTHING
