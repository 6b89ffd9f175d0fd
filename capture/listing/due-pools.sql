-- A pool has several rows of extensions: their number and the sum of their `xmin` stand for them. Only the indexer writes
-- these rows, one transaction after another, so with an equal number of rows each write raises the sum.
WITH extension AS (
  SELECT chain_id, pool, (count(*), sum(version)) AS version
  FROM (SELECT chain_id, pool, xmin::text::int8 AS version FROM :"schema".pool_extension
        UNION ALL SELECT chain_id, pool, xmin::text::int8 FROM :"schema".stop_loss
        UNION ALL SELECT chain_id, pool, xmin::text::int8 FROM :"schema".price_velocity
        UNION ALL SELECT chain_id, pool, xmin::text::int8 FROM :"schema".allowlist) AS rows
  GROUP BY chain_id, pool
), calibration AS (
  SELECT chain_id, factory, string_agg(what || ':' || decided, ',' ORDER BY what) AS decided
  FROM operator.layout_calibration GROUP BY chain_id, factory
), indexed AS (
  SELECT p.chain_id, p.address AS pool, p.token0, p.token1,
    ($1::text, p.xmin, state.xmin, t0.xmin, t1.xmin, provider.xmin, setting.xmin, extension.version, calibration.decided,
     storage.cur_bin_idx, storage.total0_scaled, storage.total1_scaled, storage.refusal, curator.xmin, delisted.xmin,
     audit.address IS NOT NULL)::text AS source
  FROM :"schema".pool p
  LEFT JOIN :"schema".pool_state state ON (state.chain_id, state.pool) = (p.chain_id, p.address)
  LEFT JOIN :"schema".token t0 ON (t0.chain_id, t0.address) = (p.chain_id, p.token0)
  LEFT JOIN :"schema".token t1 ON (t1.chain_id, t1.address) = (p.chain_id, p.token1)
  LEFT JOIN :"schema".price_provider provider ON (provider.chain_id, provider.address) = (p.chain_id, p.price_provider)
  LEFT JOIN :"schema".price_provider_setting setting ON (setting.chain_id, setting.address) = (p.chain_id, p.price_provider)
  LEFT JOIN extension ON (extension.chain_id, extension.pool) = (p.chain_id, p.address)
  LEFT JOIN calibration ON (calibration.chain_id, calibration.factory) = (p.chain_id, p.factory)
  LEFT JOIN operator.pool_storage storage ON (storage.chain_id, storage.pool) = (p.chain_id, p.address)
  LEFT JOIN operator.curator curator ON (curator.chain_id, curator.address) = (p.chain_id, p.admin)
  LEFT JOIN operator.delisted_pool delisted ON (delisted.chain_id, delisted.pool) = (p.chain_id, p.address)
  LEFT JOIN operator.index_audit audit ON (audit.chain_id, audit.address) = (p.chain_id, p.address)
    AND audit.differs_since IS NOT NULL
), price AS (
  SELECT chain_id, token, usd, CASE WHEN priced_at > $4 THEN 0 WHEN priced_at > $5 THEN 1 ELSE 2 END AS age
  FROM operator.fiat_price
), compared AS (
  SELECT coalesce(indexed.chain_id, last.chain_id) AS chain_id, coalesce(indexed.pool, last.pool) AS pool, indexed.source,
    last.generation,
    $3 OR indexed.source IS DISTINCT FROM last.source OR coalesce(last.next_change_at <= $2, false) AS is_changed,
    (last.amount0 <> 0 OR last.amount1 <> 0 OR last.next_change_at IS NOT NULL)
      AND (p0.usd, p1.usd, p0.age, p1.age) IS DISTINCT FROM (last.price0, last.price1, last.price_age0, last.price_age1)
      AS is_repriced,
    coalesce(health.is_funded, false) AS is_funded
  FROM indexed
  FULL JOIN operator.listing_source last ON last.chain_id = indexed.chain_id AND last.pool = indexed.pool
  LEFT JOIN operator.price_health health ON (health.chain_id, health.pool) = (indexed.chain_id, indexed.pool)
  LEFT JOIN price p0 ON (p0.chain_id, p0.token) = (indexed.chain_id, indexed.token0)
  LEFT JOIN price p1 ON (p1.chain_id, p1.token) = (indexed.chain_id, indexed.token1)
)
SELECT chain_id AS "chainId", pool, source FROM compared WHERE is_changed OR (is_repriced AND is_funded)
UNION ALL (
  -- They take turns, as anyone can create more.
  SELECT chain_id, pool, source FROM compared WHERE is_repriced AND NOT is_changed AND NOT is_funded
  ORDER BY generation LIMIT 500
)
