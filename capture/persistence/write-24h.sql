-- The figures of 24 hours until $2 of pool $3, once it has 100 samples: both sides and all amounts at one block.
WITH recent AS MATERIALIZED (
  SELECT bid_changes_e6[1:3] || ask_changes_e6[1:3] AS changes, ARRAY[bid_gone_e6, ask_gone_e6] AS gone
  FROM history.persistence_minute WHERE chain_id = $1 AND pool = $3 AND block_timestamp > $2::int8 - 86400
)
INSERT INTO operator.pool_persistence (chain_id, pool, median_bps, p95_bps, withdrawn_share, gone_share)
SELECT $1, $3, percentile_disc(0.5) WITHIN GROUP (ORDER BY change) / 100::float8,
       percentile_disc(0.95) WITHIN GROUP (ORDER BY change) / 100::float8, avg((change = 1000000)::int4),
       (SELECT avg(part) / 1000000 FROM recent, unnest(gone) part)
FROM recent, unnest(changes) change WHERE change IS NOT NULL
HAVING count(*) >= 100
ON CONFLICT (chain_id, pool) DO UPDATE
  SET median_bps = excluded.median_bps, p95_bps = excluded.p95_bps, withdrawn_share = excluded.withdrawn_share,
      gone_share = excluded.gone_share, updated_at = excluded.updated_at
