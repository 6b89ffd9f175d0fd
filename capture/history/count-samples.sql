-- One sample per pool and minute, by block time: whoever comes later counts nothing. A status that was not read says nothing.
INSERT INTO history.executability_hour AS kept
  (chain_id, pool, hour_ts, sample_count, committed_count, live_sample_count, live_count, last_ts,
   sample_minutes, committed_minutes, live_sample_minutes, live_minutes)
SELECT p.chain_id, p.pool, p.block_timestamp - p.block_timestamp % 3600, 1, committed, live_sampled, live, p.block_timestamp,
       minute, committed * minute, live_sampled * minute, live * minute
FROM operator.price_health p
CROSS JOIN LATERAL (
  SELECT (p.status = 'healthy' AND p.basis = 'committed')::int4 AS committed, (p.trades_live IS NOT NULL)::int4 AS live_sampled,
         coalesce(p.trades_live, false)::int4 AS live, 1::int8 << (p.block_timestamp % 3600 / 60)::int4 AS minute
) sample
WHERE p.chain_id = $1 AND p.pool = ANY ($2) AND p.block_timestamp >= $3 AND p.status <> 'unknown'
  AND NOT EXISTS (
    SELECT FROM history.executability_hour e
    WHERE e.chain_id = p.chain_id AND e.pool = p.pool AND e.hour_ts = p.block_timestamp - p.block_timestamp % 3600
      AND e.last_ts / 60 >= p.block_timestamp / 60)
ON CONFLICT (chain_id, pool, hour_ts) DO UPDATE
  SET sample_count = kept.sample_count + 1, committed_count = kept.committed_count + excluded.committed_count,
      live_sample_count = kept.live_sample_count + excluded.live_sample_count,
      live_count = kept.live_count + excluded.live_count, last_ts = excluded.last_ts,
      sample_minutes = kept.sample_minutes | excluded.sample_minutes,
      committed_minutes = kept.committed_minutes | excluded.committed_minutes,
      live_sample_minutes = kept.live_sample_minutes | excluded.live_sample_minutes,
      live_minutes = kept.live_minutes | excluded.live_minutes
  WHERE kept.last_ts / 60 < excluded.last_ts / 60
