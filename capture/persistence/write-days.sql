-- The days of chain $1 that are not closed at $2: the last one written, those after it, and for ten minutes the day before.
WITH since AS (
  SELECT least(($2::int8 - 600) / 86400 * 86400, (SELECT max(day_ts) FROM history.persistence_day WHERE chain_id = $1)) AS ts
), days AS MATERIALIZED (
  SELECT DISTINCT m.pool, m.block_timestamp - m.block_timestamp % 86400 AS ts
  FROM history.persistence_minute m, since WHERE m.chain_id = $1 AND m.block_timestamp >= since.ts
)
INSERT INTO history.persistence_day
SELECT $1, days.pool, days.ts, f.* FROM days CROSS JOIN LATERAL history.persistence_of($1, days.pool, days.ts, days.ts + 86400) f
ON CONFLICT (chain_id, pool, day_ts, side, horizon) DO UPDATE
  SET sample_count = excluded.sample_count, median_bps = excluded.median_bps, p95_bps = excluded.p95_bps,
      worse_1bp_share = excluded.worse_1bp_share, worse_5bps_share = excluded.worse_5bps_share,
      withdrawn_share = excluded.withdrawn_share, better_share = excluded.better_share, gone_share = excluded.gone_share
