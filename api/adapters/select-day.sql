-- A day of chain $1 that begins at $2, of pools of factories $3, by the figures of `pool_day`. What is not in US dollars there is
-- at the prices of the day's last hour. `unknown` counts pools whose figure is not known, which the sums leave out. Of pools of
-- the oldest generation, volume alone is known. A collection pays out what came without an event, so a balance may be negative.
WITH index AS MATERIALIZED (
  SELECT read_model.served_schema() AS name, history.trades_until($1) AS until_ts
), pools AS MATERIALIZED (
  SELECT p.address, p.token0, p.token1, p.token0_decimals AS decimals0, p.token1_decimals AS decimals1,
         p.token0_scale_multiplier AS multiplier0, p.token1_scale_multiplier AS multiplier1, ends.totals AS e,
         coalesce(starts.totals, array_fill(0::numeric, ARRAY[array_length(ends.totals, 1)])) AS s,
         ends.block_timestamp >= $2::int8 AS is_active
  FROM read_model.pool p
  CROSS JOIN LATERAL (
    SELECT a.block_timestamp, a.totals FROM read_model.pool_activity_rows() a
    WHERE a.chain_id = p.chain_id AND a.pool = p.address AND a.block_timestamp < $2::int8 + 86400
    ORDER BY a.block_timestamp DESC LIMIT 1
  ) ends
  LEFT JOIN LATERAL (
    SELECT a.totals FROM read_model.pool_activity_rows() a
    WHERE a.chain_id = p.chain_id AND a.pool = p.address AND a.block_timestamp < $2::int8
    ORDER BY a.block_timestamp DESC LIMIT 1
  ) starts ON true
  WHERE p.chain_id = $1 AND p.factory = ANY ($3::text[])
    AND NOT EXISTS (SELECT FROM operator.delisted_pool d WHERE d.chain_id = $1 AND d.pool::text = p.address)
), figures AS MATERIALIZED (
  SELECT pools.is_active, CASE WHEN bar.pool IS NULL THEN 0 ELSE bar.volume_usd END AS volume,
         CASE WHEN bar.pool IS NULL THEN 0 ELSE bar.lp_fee_usd END AS lp_fee,
         history.worth_usd($1, token0, decimals0, (e[18] - s[18] + e[20] - s[20]) / multiplier0,
           token1, decimals1, (e[19] - s[19] + e[21] - s[21]) / multiplier1, $2::int8 + 86399) AS revenue,
         history.worth_usd($1,
           token0, decimals0, coalesce(history.lp_owned0(e, multiplier0), greatest(e[6] - e[8] + e[10] - e[12] - e[14], 0)),
           token1, decimals1, coalesce(history.lp_owned1(e, multiplier1), greatest(e[7] - e[9] + e[11] - e[13] - e[15], 0)),
           $2::int8 + 86399) AS tvl
  FROM pools
  CROSS JOIN index
  LEFT JOIN history.trade_bar bar ON bar.index_schema = index.name AND bar.chain_id = $1 AND bar.pool::text = pools.address
    AND bar.secs = 86400 AND bar.start_ts = $2::int8
  UNION ALL
  SELECT day.pool IS NOT NULL, day.volume_usd, NULL, NULL, NULL
  FROM read_model.v0_pool_rows() p
  LEFT JOIN LATERAL read_model.v0_pool_days(p.chain_id, p.address, $2::int8, $2::int8 + 86400) day ON true
  WHERE p.chain_id = $1 AND p.created_timestamp < $2::int8 + 86400
    AND NOT EXISTS (SELECT FROM operator.delisted_pool d WHERE d.chain_id = $1 AND d.pool::text = p.address)
)
SELECT $2::int8 + 86400 <= index.until_ts AS final,
       coalesce(sum(volume) FILTER (WHERE is_active), 0) AS "dailyVolume",
       coalesce(sum(lp_fee + revenue) FILTER (WHERE is_active), 0) AS "dailyFees",
       coalesce(sum(revenue) FILTER (WHERE is_active AND lp_fee IS NOT NULL), 0) AS "dailyRevenue",
       coalesce(sum(lp_fee) FILTER (WHERE is_active AND revenue IS NOT NULL), 0) AS "dailySupplySideRevenue",
       coalesce(sum(tvl), 0) AS tvl,
       json_build_object(
         'dailyVolume', count(*) FILTER (WHERE is_active AND volume IS NULL),
         'dailyFees', count(*) FILTER (WHERE is_active AND lp_fee + revenue IS NULL),
         'tvl', count(is_active) - count(tvl)) AS unknown
FROM index
LEFT JOIN figures ON true
GROUP BY index.until_ts
