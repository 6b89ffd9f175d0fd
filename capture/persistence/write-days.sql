-- The days of pool $3 that are not closed at $2: the last one written, those after it, and the day before until 70
-- minutes after midnight, since runs are an hour apart and a window takes minutes.
WITH since AS (
  SELECT least(($2::int8 - 4200) / 86400 * 86400, (
    SELECT max(day_ts) FROM history.persistence_day WHERE chain_id = $1 AND pool = $3)) AS ts
), days AS MATERIALIZED (
  SELECT DISTINCT m.block_timestamp - m.block_timestamp % 86400 AS ts
  FROM history.persistence_minute m, since WHERE m.chain_id = $1 AND m.pool = $3 AND m.block_timestamp >= since.ts
)
INSERT INTO history.persistence_day
SELECT $1, $3, days.ts, f.* FROM days CROSS JOIN LATERAL history.persistence_of($1, $3, days.ts, days.ts + 86400) f
ON CONFLICT (chain_id, pool, day_ts, side, horizon) DO UPDATE
  SET sample_count = excluded.sample_count, median_bps = excluded.median_bps, p95_bps = excluded.p95_bps,
      worse_1bp_share = excluded.worse_1bp_share, worse_5bps_share = excluded.worse_5bps_share,
      withdrawn_share = excluded.withdrawn_share, better_share = excluded.better_share, gone_share = excluded.gone_share
