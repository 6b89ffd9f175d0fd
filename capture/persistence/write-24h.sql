-- The figures of 24 hours until $2 of the pools of chain $1 that have 100 samples: both sides and all amounts at one block.
WITH recent AS MATERIALIZED (
  SELECT pool, bid_changes_e6[1:3] || ask_changes_e6[1:3] AS changes, ARRAY[bid_gone_e6, ask_gone_e6] AS gone
  FROM history.persistence_minute WHERE chain_id = $1 AND block_timestamp > $2::int8 - 86400
), figures AS MATERIALIZED (
  SELECT pool, percentile_disc(0.5) WITHIN GROUP (ORDER BY change) / 100::float8 AS median_bps,
         percentile_disc(0.95) WITHIN GROUP (ORDER BY change) / 100::float8 AS p95_bps,
         avg((change = 1000000)::int4)::float8 AS withdrawn_share
  FROM recent, unnest(changes) change WHERE change IS NOT NULL
  GROUP BY pool HAVING count(*) >= 100
), gone AS (
  SELECT pool, avg(part)::float8 / 1000000 AS share FROM recent, unnest(gone) part GROUP BY pool
), other AS (
  DELETE FROM operator.pool_persistence WHERE chain_id = $1 AND pool NOT IN (SELECT pool FROM figures)
)
INSERT INTO operator.pool_persistence (chain_id, pool, median_bps, p95_bps, withdrawn_share, gone_share)
SELECT $1, f.pool, f.median_bps, f.p95_bps, f.withdrawn_share, g.share FROM figures f LEFT JOIN gone g USING (pool)
ON CONFLICT (chain_id, pool) DO UPDATE
  SET median_bps = excluded.median_bps, p95_bps = excluded.p95_bps, withdrawn_share = excluded.withdrawn_share,
      gone_share = excluded.gone_share, updated_at = excluded.updated_at
